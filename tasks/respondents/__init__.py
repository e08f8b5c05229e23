"""Studies of respondents: one tree for each person, scored, drawn, and fitted without single features."""

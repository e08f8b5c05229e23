"""Studies of respondents: one tree a person, scored, drawn, and fitted without single features."""

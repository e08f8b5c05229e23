"""PMR-Synth: the files, the layout of a text, and the digests of the sixty published texts."""

from __future__ import annotations

INBOX_FILES = {"a": "INBOX_A-00000-of-00001.parquet", "b": "INBOX_B-00000-of-00001.parquet"}
COLUMNS = ("text", "level", "relevancy")
PAPERS_PAIRS = 434
"""Comparisons of an inbox, by dt-pbo."""

RECORD_HEADING = "### EHR:"
DEMOGRAPHICS = "###Demographics###"
PROBLEMS = "###Full Active Problem List###:"
ENCOUNTERS = "###Recent Encounters (Max 10)###"
MEDICATIONS = "###Medications (Outpatient)###"
MESSAGE = "### Patient Message:"
AGE, GENDER = "Age:", "Gender:"
PAST_YEAR, OLDER = "Diagnoses (Past Year):", "Diagnoses (Older):"
ACTIVE = "Active (Start Date Before Message, Not Yet Ended):"
ENDED = "Recently Ended Within 30-Days of Message:"
SEPARATOR = " - "
"""Separator of the problems, and of the diagnoses, in a list."""
BULLET = "-"
"""First character of the line of a medicine."""
GENDERS = ("male", "female")
OLDEST = 120

TEXT_DIGESTS = frozenset({
    "0411584bd3b4", "0c8f369251b1", "109b8d687dda", "115e3d3620bb", "11fba9a60b5b", "248164dc7bef",
    "25166b904487", "27f566161045", "2a6dfc9ab7e5", "2b392360364c", "2f313af63dd7", "2fe7f8fe5f1e",
    "31dae5609a97", "3441d191b832", "38e773d4d67f", "3bf2cf02e03f", "3e0d9f3a09c2", "42715ceb8e00",
    "44c66d09ef66", "46c89ad92bb0", "46f57e6a588a", "49ee603da1e2", "4d6e7602b5b0", "4e91ef225de9",
    "59c101b7020a", "5a1f888040c9", "5fd76d0517c9", "613e3a8d21e4", "67845d887f40", "681e2788992d",
    "7503ffd068b0", "7d06fc89b048", "85daf6b3dee9", "871981f3b319", "87dac0c51948", "8da56f6c78e2",
    "92850e77a040", "a0f1900c98a5", "a462b9debfd6", "aafab3bb577b", "ac8dcf2d36d4", "add0293d9360",
    "b46aba6b4ea6", "b925ec61f9a7", "bd0a7ce4758e", "bf28c52182ca", "c7a5357f7869", "cad13131b28e",
    "caf551b78ffb", "cca96207721b", "cf3641cd3739", "d4365b74476a", "d837c222c18a", "df78ad4b811a",
    "e15b6399645d", "ef7908295e92", "fa30946f4743", "fc8e0cf49ea9", "fcb298e69c12", "fe9d071c5585",
})  # fmt: skip
"""The first twelve hexadecimal digits of the SHA-256 of each published text, in either inbox."""

"""The PDF of a page, made from its HTML."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import plutoprint

from models.records.plain_text import escaped

_RELATIVE_LINK = re.compile(r'<a href="(?![a-z]+:|#)[^"]*">(.*?)</a>', re.DOTALL)


def write_pdf(html: str, path: Path, *, title: str, created: datetime) -> None:
    """Typeset `html` on A4 into `path`. The date `created` makes the bytes reproducible.

    Relative links become plain text: in a PDF they would be paths on this machine.

    Raises OSError if the file cannot be written.
    """
    book = plutoprint.Book(plutoprint.PAGE_SIZE_A4, plutoprint.PAGE_MARGINS_NONE, plutoprint.MEDIA_TYPE_PRINT)
    book.load_html(_RELATIVE_LINK.sub(r"\1", html))
    date = created.isoformat(timespec="seconds")
    book.set_metadata(plutoprint.PDF_METADATA_TITLE, escaped(title))
    book.set_metadata(plutoprint.PDF_METADATA_CREATION_DATE, date)
    book.set_metadata(plutoprint.PDF_METADATA_MODIFICATION_DATE, date)
    with path.open("wb") as stream:
        book.write_to_pdf_stream(stream)

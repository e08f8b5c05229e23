"""The PDF of a page, from the page's own HTML."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import plutoprint


def write_pdf(html: str, path: Path, *, title: str, created: datetime) -> None:
    """Typeset `html` on A4 into `path`, dated `created` so that the same page gives the same bytes.

    Raises OSError if the file cannot be written.
    """
    book = plutoprint.Book(plutoprint.PAGE_SIZE_A4, plutoprint.PAGE_MARGINS_NONE, plutoprint.MEDIA_TYPE_PRINT)
    book.load_html(html)
    date = created.isoformat(timespec="seconds")
    book.set_metadata(plutoprint.PDF_METADATA_TITLE, title)
    book.set_metadata(plutoprint.PDF_METADATA_CREATION_DATE, date)
    book.set_metadata(plutoprint.PDF_METADATA_MODIFICATION_DATE, date)
    with path.open("wb") as stream:
        book.write_to_pdf_stream(stream)

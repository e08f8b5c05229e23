"""Whatever is printed is text: no name from data steers the terminal, or is read as markup or as an emoji."""

from __future__ import annotations

import io

import pytest
from rich.text import Text

from flows.cli import console

BELL = "ring\x07 \x08 \x0b"
"""Rich itself leaves these out of its `Text`."""
HOSTILE = "a\x1b[31mb \u202e \x1b]8;;http://x\x1b\\ [red]c[/red] :smile: \x9b1m"
SHOWN = r"a\x1b[31mb \u202e \x1b]8;;http://x\x1b\ [red]c[/red] :smile: \x9b1m"


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO()
    for each in (console.out, console.err):
        monkeypatch.setattr(each, "_file", stream)
        monkeypatch.setattr(each, "_width", 200)
    return stream


def test_every_way_of_printing_shows_control_characters_as_escapes(printed: io.StringIO) -> None:
    rows = console.table(HOSTILE)
    rows.add_row(HOSTILE)
    rows.add_row(Text(HOSTILE))
    console.out.print(rows)
    console.out.print(HOSTILE, style="bold")
    console.out.print(Text(HOSTILE))
    console.say(HOSTILE)
    console.complain(f"{HOSTILE}\n{HOSTILE}")
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert lines == [SHOWN] * 8


def test_what_rich_would_leave_out_is_shown_too(printed: io.StringIO) -> None:
    rows = console.table(BELL)
    rows.add_row(BELL)
    console.out.print(rows)
    console.say(BELL)
    console.complain(BELL)
    console.out.print(BELL, style="bold")
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == [r"ring\x07 \x08 \x0b"] * 5


def test_a_step_named_by_data_is_text_too(printed: io.StringIO) -> None:
    with console.download() as arrived:
        arrived(HOSTILE, 1, 1)
        arrived(BELL, 1, 1)
    lines = [line.partition("━")[0].rstrip() for line in printed.getvalue().splitlines()]
    assert lines == [SHOWN, r"ring\x07 \x08 \x0b"]


def test_a_terminal_still_gets_the_styles_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    terminal = console.PlainConsole()
    monkeypatch.setattr(terminal, "_file", stream)
    monkeypatch.setattr(terminal, "_force_terminal", True)
    monkeypatch.setattr(
        terminal, "_color_system", console.Console(force_terminal=True, color_system="standard")._color_system
    )
    terminal.print("x\x1b[31m", style="bold")
    assert stream.getvalue() == "\x1b[1mx\\x1b[31m\x1b[0m\n"

"""The dialogue of `prefstudy ask box --json`: a program answers, a JSON object a line in both directions.

The program reads a question and writes {"do": "first"}, "second", "skip", "undo", "result" or "quit". A line that
cannot be understood is answered with an error, and the question stands. The end of input is "quit".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from tasks.asking.box.session import BoxSession

COMMANDS = ("first", "second", "skip", "undo", "result", "quit")


def talk_in_json(session: BoxSession, folder: Path, questions: int) -> None:
    """Ask on standard output, read answers from standard input, until `questions` are answered; then the result.

    Every answer is on disk before the next question is written.
    """
    from tasks.asking.box.session import Answer
    from tasks.asking.box.state import save

    _write(_question(session) if session.n_answers < questions else _result(session))
    for line in sys.stdin:
        said = _read(line)
        if said == "quit":
            return
        if said == "result":
            _write(_result(session))
            continue
        if said == "undo" and not session.undo():
            _write({"event": "error", "message": "there is no answer to undo"})
            continue
        if said in get_args(Answer):
            if session.n_answers >= questions:
                _write({"event": "error", "message": f"all {questions} questions are answered"})
                continue
            session.answer(said)
        elif said != "undo":
            _write({"event": "error", "message": f'expected {{"do": one of {", ".join(COMMANDS)}}}'})
            continue
        save(folder, session)
        _write(_question(session) if session.n_answers < questions else _result(session))


def _read(line: str) -> Any:
    """The command in a line; None if there is none."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    do = said.get("do") if isinstance(said, dict) and len(said) == 1 else None
    return do if do in COMMANDS else None


def _question(session: BoxSession) -> dict[str, Any]:
    first, second = session.next_pair()
    return {
        "event": "question",
        "first": session.settings.values(first),
        "second": session.settings.values(second),
        "answered": session.n_answers,
        "skipped": session.n_skipped,
    }


def _result(session: BoxSession) -> dict[str, Any]:
    if not session.n_answers:
        return {"event": "error", "message": "there is no answer to learn from"}
    tree = session.tree()
    return {
        "event": "result",
        "recommended": session.settings.values(session.recommended()),
        "tree": tree.to_dict(),
        "text": tree.to_text(),
        "answered": session.n_answers,
        "skipped": session.n_skipped,
    }


def _write(event: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()

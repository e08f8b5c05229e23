"""`prefstudy ask box`: settings of numeric features are compared, by a person at the terminal or by a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from flows.cli import console
from flows.cli.commands.ask.dialogue import typed
from flows.cli.config import booleans_for_numbers, read_toml
from flows.cli.options import FLAG
from models.records.card import counted
from models.records.errors import UsageError
from models.records.settings_errors import explain

if TYPE_CHECKING:
    from rich.table import Table

    from tasks.asking.box.session import Answer, BoxSession
    from tasks.asking.box.settings import BoxSettings, Levels

EXAMPLES = """Examples:
  prefstudy ask box --config coffee.toml
  prefstudy ask box --config coffee.toml --state answers --json

The config has a table features for each feature: name, lower, upper,
step and unit. The README shows one.

Type 1 or 2 to answer, s if you have no preference, u to undo the last
answer, t for the tree so far, q to finish. Answers are kept: the same
command goes on."""

BAR = 20


def box(
    config: Annotated[Path, typer.Option(metavar="FILE.toml", help="Features: name, lower, upper, step, unit.")],
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the answers. Default: FILE-answers beside the config.")
    ] = None,
    questions: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Number of answers at most.")] = 40,
    json_lines: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Talk to a program: a JSON object a line, in and out.")
    ] = False,
) -> None:
    """Ask which of two settings you prefer, and find the best one.

    A forest of preference trees chooses each pair. One tree of all answers is
    shown to read.
    """
    from flows.cli.commands.ask.json_lines import talk_in_json
    from tasks.asking.box.state import session_in

    settings = _settings(config)
    folder = config.with_name(f"{config.stem}-answers") if state is None else state
    with session_in(folder, settings) as (session, goes_on):
        if json_lines:
            talk_in_json(session, folder, questions)
            return
        if goes_on:
            console.say(f"Going on after {counted(len(session.asked), 'questions')}.")
        console.say("1 or 2 to answer, s for no preference, u to undo, t for the tree, q to finish.")
        _talk(session, folder, questions)
        _conclude(session)
    console.say(f"\nThe answers are kept in {console.shown(folder)}")


def _settings(file: Path) -> BoxSettings:
    """The settings in a TOML file. Raises UsageError that lists every invalid one with its description."""
    from tasks.asking.box.settings import BoxSettings

    given = read_toml(file)
    try:
        settings = BoxSettings.model_validate(given)
        problems = list(booleans_for_numbers(given, settings.model_dump()))
    except ValidationError as error:
        problems = error.errors()
    if problems:
        lines = "\n".join(explain(BoxSettings, problems))
        raise UsageError(f"{file}: nobody can be asked with these settings.\n{lines}")
    return settings


def _talk(session: BoxSession, folder: Path, questions: int) -> None:
    """Ask until `questions` are answered or the answer is q. Every answer is on disk before the next question."""
    from tasks.asking.box.state import save

    answers: dict[str, Answer] = {"1": "first", "2": "second", "s": "skip"}
    shown = False
    while session.n_answers < questions:
        if not shown:
            _show(session, questions)
        said = typed("1, 2, s, u, t or q ? ")
        shown = False
        if said == "q":
            return
        if said in answers:
            session.answer(answers[said])
            save(folder, session)
        elif said == "u":
            if session.undo():
                save(folder, session)
            else:
                console.say("There is no answer to undo.")
        elif said == "t" and session.n_answers:
            console.say(f"\n{session.tree().to_text()}")
        else:
            console.say("There is no tree yet." if said == "t" else "Please answer 1, 2, s, u, t or q.")
            shown = True


def _show(session: BoxSession, questions: int) -> None:
    """Print how far the session is, and the two settings side by side."""
    settings, (first, second) = session.settings, session.next_pair()
    done = round(BAR * session.n_answers / questions)
    skipped = f", {session.n_skipped} without a preference" if session.n_skipped else ""
    console.say(f"\n{'█' * done}{'░' * (BAR - done)}  question {session.n_answers + 1} of {questions}{skipped}")
    console.say(f"{settings.question}\n")
    lines = console.table("", "1", "2", "", numbers=["1", "2"])
    for feature, one, other in zip(settings.features, first, second, strict=True):
        style = "dim" if one == other else None
        lines.add_row(feature.name, feature.text(one), feature.text(other), feature.unit, style=style)
    console.out.print(lines)


def _conclude(session: BoxSession) -> None:
    """Print the tree and the recommended setting."""
    if not session.n_answers:
        raise UsageError("There are no answers, so there is nothing to recommend.")
    console.say(f"\nThe tree of your {counted(session.n_answers, 'answers')}:\n\n{session.tree().to_text()}")
    console.say("\nYou should like this setting best:\n")
    console.out.print(_as_table(session.settings, session.recommended()))


def _as_table(settings: BoxSettings, levels: Levels) -> Table:
    lines = console.table("", "value", "", numbers=["value"])
    lines.show_header = False
    for feature, level in zip(settings.features, levels, strict=True):
        lines.add_row(feature.name, feature.text(level), feature.unit)
    return lines

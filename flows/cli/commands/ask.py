"""`prefstudy ask`: questions at the terminal, each the most useful next one, and the tree they end in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli import console
from flows.cli.config import refuse_both
from models.records.errors import UsageError

if TYPE_CHECKING:
    from tasks.asking.questionnaire import Questionnaire

EXAMPLES = """Examples:
  prefstudy ask sushi --simulated     about invented kinds of sushi
  prefstudy ask sushi --questions 12  about the real ones

Answer with 1 or 2; u takes the last answer back, q ends the questions."""

BAR = 24


def ask(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose items to be asked about; see: prefstudy list")],
    raw: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the raw files; else PREFSTUDY_RAW and the cache.")
    ] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Ask about simulated items.")] = False,
    questions: Annotated[int, typer.Option(metavar="N", min=1, max=200, help="How many questions at most.")] = 9,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of questions that are as good as others.")] = 0,
) -> None:
    """Ask which of two items you like better, each time about the pair that tells most, and show the tree of it."""
    from data_adapters.catalogue import adapter
    from data_adapters.source.build import build
    from data_adapters.source.locate import locate
    from data_adapters.source.simulation import simulate
    from tasks.asking.questionnaire import Questionnaire

    refuse_both(raw, simulated=simulated)
    source = adapter(name)
    with console.err.status(f"Reading the items of {name} ..."), TemporaryDirectory() as aside:
        if simulated:
            raw = Path(aside) / name
            simulate(source, raw, seed=seed, users=2)
        table = build(source, locate(source, raw))[0]
    questionnaire = Questionnaire.about(table, seed=seed)
    _talk(questionnaire, questions, _answer)
    _conclude(questionnaire)


def _answer(prompt: str) -> str:
    """What is typed at the prompt; `q` where nobody can type any more."""
    try:
        return console.out.input(prompt, markup=False).strip().lower()
    except EOFError:
        return "q"


def _talk(questionnaire: Questionnaire, questions: int, answer: Callable[[str], str]) -> None:
    """Ask until enough is asked or the answer is q; u goes back by one question."""
    console.say("Which do you like better? Answer 1 or 2; u takes the last answer back, q ends.\n")
    while questionnaire.n_answers < questions:
        pair = questionnaire.next_pair()
        first, second = (questionnaire.labels[item] for item in pair)
        said = answer(f"{questionnaire.n_answers + 1:>3}/{questions}   1  {first}   or   2  {second} ? ")
        if said == "q":
            return
        if said == "u":
            questionnaire.take_back()
        elif said in {"1", "2"}:
            questionnaire.prefer(pair if said == "1" else (pair[1], pair[0]))
        else:
            console.say("       Please answer 1, 2, u or q.")


def _conclude(questionnaire: Questionnaire) -> None:
    """The tree, the items in the order it puts them, and what to try."""
    if not questionnaire.n_answers:
        raise UsageError("Nothing was answered, so nothing was learnt.")
    tree = questionnaire.tree()
    console.say(f"\nWhat your {questionnaire.n_answers} answers say:\n\n{tree.to_text()}\n")
    lines = console.table("Rank", "Utility", "", "Items", numbers=["Rank", "Utility"])
    ranked = questionnaire.ranking(tree)
    low, high = ranked[-1].utility, ranked[0].utility
    for group in ranked:
        bar = "█" * round(1 + (BAR - 1) * ((group.utility - low) / (high - low) if high > low else 1.0))
        lines.add_row(str(group.rank), f"{group.utility:+.2f} ± {group.sd:.2f}", bar, ", ".join(group.items))
    console.out.print(lines)
    console.say(f"\nYou should like best: {questionnaire.labels[questionnaire.recommended()]}")

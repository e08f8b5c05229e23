"""`prefstudy ask NAME`: asks for preferences at the terminal and shows the tree learnt from the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli import console
from flows.cli.commands.ask.dialogue import typed
from flows.cli.config import refuse_both
from flows.cli.options import FLAG, Raw
from models.records.card import counted
from models.records.errors import UsageError

if TYPE_CHECKING:
    from tasks.asking.questionnaire import Questionnaire

EXAMPLES = """Examples:
  prefstudy ask sushi --simulated     about invented kinds of sushi
  prefstudy ask sushi --questions 12  about the real ones

Type 1 or 2 to answer, u to undo the last answer, q to finish."""

BAR = 24


def ask(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set. See: prefstudy list")],
    raw: Raw = None,
    simulated: Annotated[bool, typer.Option("--simulated", metavar=FLAG, help="Ask about simulated items.")] = False,
    questions: Annotated[int, typer.Option(metavar="N", min=1, max=200, help="Number of questions at most.")] = 9,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the choice between equal questions.")] = 0,
) -> None:
    """Ask which of two items you like better, and show the tree of your answers.

    Each question is about the pair from which the tree learns most.
    """
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
    _talk(questionnaire, questions, typed)
    _conclude(questionnaire)


def _talk(questionnaire: Questionnaire, questions: int, answer: Callable[[str], str]) -> None:
    """Ask until `questions` are answered or the answer is q; u undoes the last answer."""
    console.say("Which do you like better? Type 1 or 2, u to undo, q to finish.\n")
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
    """Print the tree, the items in its order, and the item to recommend."""
    if not questionnaire.n_answers:
        raise UsageError("There are no answers, so there is no tree.")
    tree = questionnaire.tree()
    console.say(f"\nThe tree of your {counted(questionnaire.n_answers, 'answers')}:\n\n{tree.to_text()}\n")
    lines = console.table("Rank", "Utility", "", "Items", numbers=["Rank", "Utility"])
    ranked = questionnaire.ranking(tree)
    low, high = ranked[-1].utility, ranked[0].utility
    for group in ranked:
        bar = "█" * round(1 + (BAR - 1) * ((group.utility - low) / (high - low) if high > low else 1.0))
        lines.add_row(str(group.rank), f"{group.utility:+z.2f} ± {group.sd:.2f}", bar, ", ".join(group.items))
    console.out.print(lines)
    console.say(f"\nYou should like this one best: {questionnaire.labels[questionnaire.recommended()]}")

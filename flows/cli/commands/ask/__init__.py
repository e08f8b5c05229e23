"""`prefstudy ask`: questions to a person about the items of a data set, or about settings of numeric features."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from flows.cli.commands.ask import box, items

EXAMPLES = """Examples:
  prefstudy ask sushi --simulated         about invented kinds of sushi
  prefstudy ask sushi --questions 12      about the real ones
  prefstudy ask box --config coffee.toml  about settings of your own

Answers about settings are kept: the same command goes on where it stopped."""


class _ItemsByDefault(TyperGroup):
    """Takes the name of a data set for the arguments of `items`: `ask sushi` is `ask items sushi`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = not args or args[0] in {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, args if known else ["items", *args])


app = typer.Typer(
    cls=_ItemsByDefault,
    help="Ask which of two items, or of two settings, you like better.",
    epilog=EXAMPLES,
    no_args_is_help=True,
)
app.command("items", epilog=items.EXAMPLES)(items.ask)
app.command("box", epilog=box.EXAMPLES)(box.box)

"""What the dialogues share: a typed answer."""

from __future__ import annotations

from flows.cli import console


def typed(prompt: str) -> str:
    """The answer typed at the prompt, in lower case; `q` at the end of input."""
    try:
        return console.out.input(prompt, markup=False).strip().lower()
    except EOFError:
        return "q"

"""A model that gives no usable answer at all: what its answers look like, and what to check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from models.records.card import counted
from prompts.engine import REFUSED, EngineError
from prompts.ledger_entry import Entry

FEWEST = 6
"""A model is called unusable after this many requests of one kind without a usable answer, not earlier."""


class UnusableModelError(EngineError):
    """None of the first answers of a model is usable."""

    quotes_data = False


def unusable(model: str, template: str, requests: int, rows: Sequence[Entry]) -> UnusableModelError:
    """The error that says what the answers to some requests of one template have in common. It quotes none of them."""
    lines = [
        f"{model} gave no usable answer to any of {counted(requests, 'requests')} ({template}). The run stops here and "
        "reports no number.",
        *(f"  {number:,} of {len(rows):,} answers {what}" for number, what in _kinds(rows) if number),
        "These answers stay in the ledger. After a change, run with a new one: --set ledger=FILE",
    ]
    return UnusableModelError("\n".join(lines))


def refused_all(model: str, requests: int, reasons: Sequence[str]) -> EngineError:
    """The error where an engine refuses all that it is asked, so that no request can be the one to blame."""
    return EngineError(
        f"{model} takes none of {counted(requests, 'requests')} ({', '.join(sorted(set(reasons)))}). Check the context "
        "length of the model, and whether the server knows JSON schemas (response_format) and, unless you --set "
        "engine.can_think=false, chat_template_kwargs. The ledger keeps all answers so far; to run again helps only "
        "after a change."
    )


_KINDS: Sequence[tuple[Callable[[Entry], bool], str]] = (
    (lambda row: row.finish_reason == REFUSED, "were refused: check the context length"),
    (
        lambda row: row.finish_reason == "length",
        "were cut at the length limit: check the server's own limit, and whether the model thinks where it should not "
        "(engine.can_think=true lets the study switch thinking off)",
    ),
    (
        lambda row: not row.answer.strip(),
        "are empty: a reasoning parser may take the answer for thinking; check that of the server, or of vllm: --set "
        "engine.reasoning_parser=NAME",
    ),
    (lambda row: "think>" in row.answer, "hold thinking: start the server with a reasoning parser"),
    (
        lambda row: "json_invalid" in (row.problem or ""),
        "are no JSON: check that the server binds answers to a JSON schema (response_format)",
    ),
    (lambda row: True, "break the schema: check that the server binds answers to it (response_format)"),
)
"""Ways in which an answer is of no use, with what to check; the first that holds counts."""


def _kinds(rows: Sequence[Entry]) -> list[tuple[int, str]]:
    """How many answers fail in each way."""
    ways = Counter(next(what for holds, what in _KINDS if holds(row)) for row in rows)
    return [(ways[what], what) for _, what in _KINDS]

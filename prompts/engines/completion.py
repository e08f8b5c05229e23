"""What a server with the OpenAI protocol sends back, checked before anything of it is used."""

from __future__ import annotations

import json
import re
from typing import Any

from models.records.plain_text import escaped
from prompts.engine import Reply, without_thinking

LONGEST_WORD = 40
_TOO_LONG = re.compile(
    r"context.{0,9}(length|size|window|limit)|exceed\w*.{0,20}context|(prompt|input).{0,20}too (long|many tokens)"
    r"|too (long|many tokens).{0,20}(prompt|input)|longer than the maximum",
    re.IGNORECASE,
)


class MalformedReplyError(Exception):
    """A reply is not one of the OpenAI protocol. The message says what is wrong, and quotes nothing."""


def read_completion(body: bytes, seconds: float) -> Reply:
    """The answer in the body of a reply. Token counts that are missing or no counts become 0.

    Raises MalformedReplyError.

    >>> body = b'{"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}'
    >>> read_completion(body, seconds=0.1).finish_reason
    'stop'
    """
    match _document(body):
        case {"choices": [{"message": {"content": str() | None as text}, **choice}, *_], **rest}:
            usage = rest.get("usage")
            counts = usage if isinstance(usage, dict) else {}
            finish_reason = choice.get("finish_reason")
            return Reply(
                text=without_thinking(text or ""),
                finish_reason=escaped(finish_reason)[:LONGEST_WORD] if isinstance(finish_reason, str) else "unknown",
                prompt_tokens=_count(counts.get("prompt_tokens")),
                answer_tokens=_count(counts.get("completion_tokens")),
                seconds=seconds,
            )
    raise MalformedReplyError("sends no completion of the OpenAI protocol")


def read_models(body: bytes) -> list[str]:
    """The names of the models that a server lists. Raises MalformedReplyError.

    >>> read_models(b'{"data": [{"id": "tiny"}]}')
    ['tiny']
    """
    match _document(body):
        case {"data": [*models]} if all(isinstance(each, dict) and isinstance(each.get("id"), str) for each in models):
            return [each["id"] for each in models]
    raise MalformedReplyError("sends no list of models of the OpenAI protocol")


def is_too_long(body: str) -> bool:
    """Whether a server refuses a request because it is longer than the context of the model.

    >>> is_too_long("This model's maximum context length is 4096 tokens"), is_too_long("unknown field")
    (True, False)
    """
    return _TOO_LONG.search(body) is not None


def _document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # the message of the first could quote the answer
        raise MalformedReplyError("sends no JSON") from None


def _count(found: Any) -> int:
    """A number of tokens; 0 for anything else."""
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53 else 0

"""The engine `vllm`: the model in this process, one batch per step (as dt-pbo G.2 runs Qwen3.5-27B)."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from models.records.base import Record
from prompts.engine import EngineError, Reply, Request, Sampling, refusal, without_thinking

WITHOUT = "Alternatives: --engine server (a remote vLLM) or --engine rules (no model)."


class VllmSettings(Record):
    """Settings of the model and of its use of the GPUs."""

    kind: Literal["vllm"] = "vllm"
    model: str = Field(default="Qwen/Qwen3.5-27B", description="name of the model, or its folder")
    revision: str = Field(default="main", description="revision of the model; name a commit to make the run repeatable")
    tensor_parallel_size: int = Field(default=1, ge=1, description="number of GPUs that share the model")
    memory_share: float = Field(default=0.9, gt=0, le=1, description="share of each GPU's memory that vLLM may use")
    context_length: int = Field(default=16_384, ge=1024, description="most tokens of a prompt with its answer")
    reasoning_parser: str | None = Field(
        default="qwen3", description="vLLM's parser that separates the model's thinking from its answer"
    )
    dtype: str = Field(default="bfloat16", description="type of the weights")
    seed: int = Field(default=0, description="seed of the engine")


class Vllm:
    """A model in this process. A grammar enforces the schema; thinking is off for reading and on for reasoning."""

    def __init__(self, settings: VllmSettings) -> None:
        if find_spec("vllm") is None:
            raise EngineError(f"vllm: vLLM is not installed. Install it: pip install -e '.[vllm]'. {WITHOUT}")
        import torch
        from vllm import LLM
        from vllm.platforms import current_platform

        if not current_platform.is_cpu() and not torch.cuda.is_available():
            raise EngineError(f"vllm: there is no GPU here, and this build of vLLM needs one. {WITHOUT}")
        self.model, self.revision, self.settings = settings.model, settings.revision, settings
        on_machine: dict[str, Any] = {
            "gpu_memory_utilization": settings.memory_share,
            "enable_prefix_caching": True,
        }
        if current_platform.is_cpu():
            # Compilation would take longer than a small model's answers. A prompt must be read in one part, so prefix
            # caching is off: between two parts vLLM rewinds the seeded generator, which fails on a CPU.
            on_machine = {
                "enforce_eager": True,
                "enable_prefix_caching": False,
                "max_num_batched_tokens": settings.context_length,
            }
        try:
            self._llm: Any = LLM(
                model=settings.model,
                revision=None if Path(settings.model).is_dir() else settings.revision,
                tensor_parallel_size=settings.tensor_parallel_size,
                max_model_len=settings.context_length,
                language_model_only=True,
                dtype=settings.dtype,
                seed=settings.seed,
                reasoning_parser=settings.reasoning_parser or "",
                # Without disable_any_whitespace a small model fills its answer with white space up to the limit.
                structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": True},
                **on_machine,
            )
        except Exception as error:  # vLLM raises whatever its parts raise
            raise EngineError(f"vllm: {settings.model} cannot be started: {_first_line(error)}. {WITHOUT}") from None

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply to each request. Requests with and without thinking form separate batches. Raises EngineError."""
        replies: dict[int, Reply] = {}
        for thinking in (False, True):
            places = [at for at, request in enumerate(requests) if request.sampling.thinking == thinking]
            if places:
                batch = [requests[at] for at in places]
                replies |= dict(zip(places, self._reply_to_batch(batch, thinking=thinking), strict=True))
        return [replies[at] for at in range(len(requests))]

    def close(self) -> None:
        """Free the memory of the model."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self._llm.llm_engine.engine_core.shutdown()
        del self._llm
        gc.collect()
        cleanup_dist_env_and_memory()

    def _reply_to_batch(self, requests: Sequence[Request], *, thinking: bool) -> list[Reply]:
        """The replies to a batch. vLLM refuses a batch with a prompt that is too long before it answers any of it.

        Such a batch is halved until that prompt is found.
        """
        start = time.perf_counter()
        try:
            outputs = self._llm.chat(
                [[message.model_dump() for message in request.messages] for request in requests],
                [_parameters(request.sampling, request.schema) for request in requests],
                use_tqdm=False,
                chat_template_kwargs={"enable_thinking": thinking},
            )
        except ValueError:
            if len(requests) == 1:
                return [refusal(f"vLLM takes no such prompt: longer than {self.settings.context_length:,} tokens?")]
            half = len(requests) // 2
            parts = (requests[:half], requests[half:])
            return [reply for part in parts for reply in self._reply_to_batch(part, thinking=thinking)]
        except Exception as error:  # its message could quote the question
            raise EngineError(
                f"vllm: {self.model} stopped answering ({type(error).__name__}). The ledger keeps all answers so far; "
                "run again, with a smaller chunk_size or memory_share if the GPU was full."
            ) from None
        seconds = (time.perf_counter() - start) / len(requests)
        return [_reply(output, seconds) for output in outputs]


def _parameters(sampling: Sampling, schema: dict[str, Any]) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    return SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=sampling.seed,
        structured_outputs=StructuredOutputsParams(json=schema),
    )


def _reply(output: Any, seconds: float) -> Reply:
    [found] = output.outputs
    return Reply(
        text=without_thinking(found.text),
        finish_reason=found.finish_reason or "unknown",
        prompt_tokens=len(output.prompt_token_ids or ()),
        answer_tokens=len(found.token_ids),
        seconds=seconds,
    )


def _first_line(error: Exception) -> str:
    line = str(error).strip().partition("\n")[0].rstrip(".")
    return line[:200] or type(error).__name__

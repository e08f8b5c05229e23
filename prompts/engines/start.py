"""Starts the engine that the settings name, and frees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from models.records.feature_spec import FeatureSpec
from prompts.engine import Engine
from prompts.engines.replay import Replay, ReplaySettings
from prompts.engines.rules import Rules, RulesSettings
from prompts.engines.server import Server, ServerSettings
from prompts.engines.vllm import Vllm, VllmSettings
from prompts.ledger import Ledger

EngineSettings = Annotated[VllmSettings | ServerSettings | RulesSettings | ReplaySettings, Field(discriminator="kind")]


@contextmanager
def started(settings: EngineSettings, ledger: Ledger, published: Sequence[FeatureSpec]) -> Iterator[Engine]:
    """The engine of these settings; it is freed when the block ends. published: the features that `rules` proposes.

    Raises EngineError with a one-line message if the engine cannot start on this machine.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prompts.feature_file import read_features
    >>> with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
    ...     with started(RulesSettings(), ledger, read_features().features) as engine:
    ...         engine.model
    'keyword rules'
    """
    engine: Engine
    match settings:
        case VllmSettings():
            engine = Vllm(settings)
        case ServerSettings():
            engine = Server(settings)
        case RulesSettings():
            engine = Rules(published)
        case ReplaySettings():
            engine = Replay(settings, ledger)
    try:
        yield engine
    finally:
        engine.close()

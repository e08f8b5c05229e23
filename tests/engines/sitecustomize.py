"""Lets `import torchvision` work beside a CPU build of torch; put this folder on PYTHONPATH.

PyPI's torchvision is a CUDA build. Its operators do not load beside a CPU build of torch, and its import fails on two
of them that are never called here. Declaring them first lets the Python part import.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

OPERATORS = ("nms", "qnms")


class _Declares(importlib.abc.MetaPathFinder):
    """Import hook that declares the operators just before torchvision is imported."""

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

"""The scripts of tools/ as modules."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from support.servers import ROOT


def tool(name: str) -> ModuleType:
    """The module that tools/NAME.py is."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

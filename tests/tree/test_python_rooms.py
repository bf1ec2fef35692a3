"""Which Python module may import which: read from their sources, so that no import is missed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support.servers import ROOT

PACKAGE = ROOT / "python" / "qwf_agent"
# The rooms of the package, and the rooms that each one uses. A room uses only rooms above it in
# this table: that is why there is no circle.
USES: dict[str, set[str]] = {
    "app": set(),
    "llm": {"app"},
    "config": set(),
    "qwf_agent": {"app"},  # the package's own __init__.py
    "embedded": {"config"},
    "migrate": set(),
    "system": set(),
    "hooks": {"app"},
    "otel": {"app"},
    "receivers": {"app", "config", "hooks"},
    "child": {"app", "llm", "otel", "qwf_agent", "receivers", "system"},
    "servers": {"config", "system"},
    "agent": {"app", "child", "llm", "qwf_agent", "receivers", "servers", "system"},
    "testing": {"agent", "app", "child", "embedded", "llm", "migrate"},
    "__main__": {"agent", "child", "config", "receivers", "servers", "system"},
    "look": {"app", "config", "migrate", "qwf_agent", "receivers", "system"},
    "cli": {"app", "config", "embedded", "look", "migrate", "qwf_agent", "receivers", "system"},
    "web": {"app", "config", "look", "qwf_agent"},
}
# Commands that another room defines: the command line imports them when they are called, by a name
# in a string, and uses nothing else of these rooms.
LATE = {("cli", "__main__"), ("cli", "web")}
CORE = ("agent.loop", "child.main", "agent.db")
NOT_FOR_THE_CORE = ("cli", "migrate", "embedded")


def modules(folder: Path, name: str) -> dict[str, Path]:
    """Every module of a package, by its dotted name; without the environments of the peers."""
    found = {}
    for file in folder.rglob("*.py"):
        parts = [name, *file.relative_to(folder).with_suffix("").parts]
        if any(part.startswith(".") for part in parts):
            continue
        found[".".join(parts).removesuffix(".__init__")] = file
    return found


OURS = modules(PACKAGE, "qwf_agent")
BENCH = modules(ROOT / "bench", "bench")
SUPPORT = modules(ROOT / "tests" / "support", "support")
EVERYTHING = {**OURS, **BENCH, **SUPPORT}


def imports(name: str, file: Path) -> set[str]:
    """The modules that a module imports, anywhere in its code, for type checkers too, and those
    that a string of its code names as `module:object`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in EVERYTHING else str(node.module))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.partition(":")[0]
            if module != node.value and module in EVERYTHING:
                found.add(module)
    return found - {name}


@cache
def all_imports() -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {name: imports(name, file) for name, file in EVERYTHING.items()}


def room(module: str) -> str:
    """The first word below qwf_agent, that is: which process runs it."""
    return module.split(".")[1] if "." in module else module


def circle(names: set[str]) -> list[str]:
    """Modules that import each other in a circle; none if there is no circle."""
    left = {name: all_imports()[name] & names for name in names}
    while free := {name for name, used in left.items() if not used & left.keys()}:
        for name in free:
            del left[name]
    return sorted(left)


def test_the_table_names_every_room() -> None:
    assert set(USES) == {room(name) for name in OURS}


@pytest.mark.parametrize("name", USES)
def test_a_room_uses_the_rooms_it_names_and_only_rooms_above_it(name: str) -> None:
    used = {
        room(module)
        for module, imported in all_imports().items()
        if module in OURS and room(module) == name
        for module in imported
        if module in OURS and room(module) != name and (name, room(module)) not in LATE
    }
    assert used == USES[name]
    order = list(USES)
    assert [other for other in used if order.index(other) > order.index(name)] == []


def test_what_the_command_line_imports_late_it_imports_nowhere_else() -> None:
    """So that `qwf queues` does not load the agent."""
    for user, used in LATE:
        for name, file in OURS.items():
            if room(name) == user:
                tree = ast.parse(file.read_text(encoding="utf-8"))
                named = {
                    f"{node.module}.{alias.name}"
                    for node in ast.walk(tree)
                    if isinstance(node, ast.ImportFrom)
                    for alias in node.names
                }
                assert not [one for one in named if one.startswith(f"qwf_agent.{used}")], name


def test_only_the_page_imports_the_command_line_and_nothing_the_benchmark_or_a_test() -> None:
    for name in OURS:
        used = all_imports()[name]
        if room(name) not in ("cli", "web"):
            assert not [one for one in used if one.startswith("qwf_agent.cli")], name
        assert not [one for one in used if one.split(".")[0] in ("bench", "support")], name


@pytest.mark.parametrize("package", ["qwf_agent", "bench", "support"])
def test_no_module_imports_itself_by_way_of_others(package: str) -> None:
    names = {name for name in EVERYTHING if name.split(".")[0] == package}
    assert circle(names) == []


def test_a_test_imports_no_other_test() -> None:
    for file in (ROOT / "tests").rglob("*.py"):
        for module in imports(file.stem, file):
            assert not module.split(".")[-1].startswith("test_"), file


def test_a_circle_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(all_imports(), "bench.samples", {"bench.results"})
    found = circle(set(BENCH))
    assert {"bench.samples", "bench.results"} <= set(found)


# What is loaded ----------------------------------------------------------------------------------


def imported_by(statement: str) -> set[str]:
    """Names of all modules that are loaded once `statement` has run."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}; import sys; print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_producers_import_nothing_that_only_unix_has() -> None:
    """They run on Windows, too."""
    hidden = ("pwd", "grp", "fcntl", "resource", "termios", "tty", "pty", "syslog")
    hide = f"import sys; sys.modules.update(dict.fromkeys({hidden}))"
    loaded = imported_by(f"{hide}; from qwf_agent import App, jobs, runs")
    assert {"qwf_agent.app.jobs", "qwf_agent.app.runs"} <= loaded
    assert not [name for name in loaded if name.startswith("opentelemetry")]


def test_the_client_of_model_servers_needs_nothing_but_python() -> None:
    """A body may use it where nothing else of qwf runs."""
    modules = ", ".join(name for name in OURS if room(name) == "llm")
    loaded = {name.split(".")[0] for name in imported_by(f"import {modules}")}
    before = {name.split(".")[0] for name in imported_by("pass")}
    assert loaded - before - set(sys.stdlib_module_names) == {"qwf_agent"}


@pytest.mark.parametrize("module", CORE)
def test_the_core_of_the_agent_stays_small(module: str) -> None:
    loaded = imported_by(f"import qwf_agent.{module}")
    assert f"qwf_agent.{module}" in loaded
    assert not loaded & {f"qwf_agent.{name}" for name in NOT_FOR_THE_CORE}
    assert not loaded & {"click", "rich", "yoyo", "yaml"}

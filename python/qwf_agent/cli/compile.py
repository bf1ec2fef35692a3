"""`qwf compile`: the definitions of a Python module as JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import qwf_agent
from qwf_agent.app.values import suggestion
from qwf_agent.app.workflows import Definition
from qwf_agent.cli import errors

OURS = Path(qwf_agent.__file__).parent
Document = tuple[Definition, dict[str, Any]]


@click.command("compile")
@click.argument("module", metavar="MODULE[:NAME]")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a file for each into this folder, and print the names.",
)
def compile_module(module: str, out: Path | None) -> None:
    """Print the pipelines and workflows of a Python module as JSON.

    MODULE is imported, from this folder or PYTHONPATH. The pipelines and
    workflows that its workflows use come along. With NAME, only that object is compiled. Files in
    DIR are overwritten, never deleted. No database is needed.

    \b
    Example:  qwf compile flows --out definitions
    Then:     qwf apply definitions
    """
    name, _, attribute = module.partition(":")
    with contextlib.redirect_stdout(sys.stderr):  # what the module prints is no JSON
        found = _definitions(_imported(name), name, attribute)
        documents = _compiled(found, with_used=not attribute)
    _write(documents, out)


def _write(documents: list[Document], out: Path | None) -> None:
    """Print the definitions, or write each into a file and print its name."""
    for one, content in documents:
        text = json.dumps(content, indent=2, ensure_ascii=False)
        if out is None:
            click.echo(text)
            continue
        file = out / f"{one.name}.{one.kind}.json"
        try:
            out.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            errors.fail(f"cannot write: {error}")
        click.echo(file)


def _imported(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    if name.endswith(".py"):
        errors.fail(f"{name!r} is a file: write the name of the module, {Path(name).stem!r}")
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            errors.fail(f"there is no module {name!r} in this folder or on PYTHONPATH")
        errors.fail(f"cannot import {name!r}", details=[_described(error)])


def _definitions(module: ModuleType, name: str, attribute: str) -> list[Definition]:
    """The definitions among the names of a module, or the one that was asked for."""
    known = {key: one for key, one in vars(module).items() if isinstance(one, Definition)}
    if not known:
        errors.fail(
            f"module {name!r} has neither a pipeline nor a workflow",
            "a function becomes one with @pipeline() or @workflow()",
        )
    if attribute and attribute not in known:
        errors.fail(
            f"{attribute!r} is no pipeline or workflow of module {name!r}",
            suggestion(attribute, known),
        )
    return [known[attribute]] if attribute else [*known.values()]


def _compiled(found: list[Definition], with_used: bool) -> list[Document]:
    """The definitions with what they compile to, pipelines first; with those that they use, if
    that is asked for. All problems are printed together."""
    done: dict[int, Document] = {}
    problems: list[str] = []
    waiting = [*found]
    while waiting:
        one = waiting.pop(0)
        if id(one) in done:
            continue
        try:
            built = one.build()
        except Exception as error:
            done[id(one)] = one, {}
            problems.append(_described(error, _place_of(one)))
            continue
        done[id(one)] = one, built.content
        waiting += built.used if with_used else []
    documents = sorted(done.values(), key=lambda document: document[0].kind)
    problems += _twins([one for one, _ in documents])
    if problems:
        many = "s" * (len(problems) != 1)
        errors.fail(f"{len(problems)} problem{many}, nothing compiled", details=problems)
    return documents


def _twins(found: list[Definition]) -> Iterator[str]:
    seen: dict[tuple[str, str], Definition] = {}
    for one in found:
        first = seen.setdefault((one.kind, one.name), one)
        if first is not one:
            yield f"{_place_of(one)}: {one!r} is also at {_place_of(first)}"


def _place_of(one: Definition) -> str:
    code = one.function.__code__
    return _place(code.co_filename, code.co_firstlineno, code.co_name)


def _place(file: str, line: int | None, function: str) -> str:
    path = Path(file)
    short = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{short}:{line}, in {function}"


def _described(error: BaseException, place: str = "") -> str:
    """The error, after the place in the user's code that it comes from; else after this place."""
    said = str(error)
    if not isinstance(error, (TypeError, ValueError)):
        said = f"{type(error).__name__}: {said}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if OURS not in Path(file).parents and file != importlib.__file__ and file[0] != "<":
            place = _place(file, frame.lineno, frame.name)
            break
    return f"{place}: {said}" if place else said

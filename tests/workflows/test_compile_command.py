"""`qwf compile`: from a Python module to files that `qwf apply` reads, without a database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from qwf_agent.cli import definition_files
from qwf_agent.cli import qwf as command
from support.servers import ROOT

Json = Any
Compile = Callable[..., Result]

IMPORT = "from qwf_agent.app.workflows import item, node, pipeline, question, ref, step, workflow\n"
GREET = f"""{IMPORT}
@pipeline()
def hello(who):
    node("hello", inputs={{"who": who}})

@workflow("greet.all", display_name="gr\u00fc\u00dfen")
def greet(who):
    step("greet", hello, inputs={{"who": who}})
"""
HELLO = {"name": "hello", "nodes": [{"id": "hello", "inputs": {"who": {"$from": "pipeline.who"}}}]}
GREET_ALL = {
    "name": "greet.all", "display_name": "gr\u00fc\u00dfen",
    "steps": [{"id": "greet", "kind": "pipeline", "pipeline": "hello",
               "inputs": {"who": {"$from": "who"}}}],
}  # fmt: skip


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compile]:
    """Writes modules into a folder, and compiles the first there; no database is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("QWF_DSN", "postgresql://nowhere.invalid/none")
    known = {*sys.modules}

    def run(*words: str, **modules: str) -> Result:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return CliRunner().invoke(command, ["compile", *words])

    yield run
    for name in {*sys.modules} - known:
        del sys.modules[name]


def documents(text: str) -> list[Json]:
    """The JSON documents that stand one after the other in a text."""
    found = []
    while text.strip():
        one, end = json.JSONDecoder().raw_decode(text.lstrip())
        found.append(one)
        text = text.lstrip()[end:]
    return found


def test_prints_the_definitions_of_a_module_pipelines_first(compiled: Compile) -> None:
    result = compiled("flows", flows=GREET)
    assert (result.exit_code, result.stderr) == (0, "")
    assert documents(result.stdout) == [HELLO, GREET_ALL]
    assert "gr\u00fc\u00dfen" in result.stdout
    assert compiled("flows").stdout == result.stdout


def test_prints_one_definition(compiled: Compile) -> None:
    result = compiled("flows:greet", flows=GREET)
    assert json.loads(result.stdout) == GREET_ALL
    assert result.stdout == json.dumps(GREET_ALL, indent=2, ensure_ascii=False) + "\n"


def test_writes_a_file_for_each_which_apply_reads(compiled: Compile, tmp_path: Path) -> None:
    result = compiled("flows", "--out", "a/b", flows=GREET)
    files = ["a/b/hello.pipeline.json", "a/b/greet.all.workflow.json"]
    assert result.stdout.split() == files
    found = definition_files.load(tmp_path / "a")
    assert [(one.kind, one.content) for one in found] == [
        ("pipeline", HELLO), ("workflow", GREET_ALL),
    ]  # fmt: skip
    (tmp_path / files[0]).write_text("an older one")
    (tmp_path / "a/b/mine.txt").write_text("mine")
    assert compiled("flows", "--out", "a/b").exit_code == 0
    assert json.loads((tmp_path / files[0]).read_text()) == HELLO
    assert (tmp_path / "a/b/mine.txt").read_text() == "mine"


def test_the_pipelines_that_a_workflow_uses_come_along(compiled: Compile) -> None:
    pipes = f"{IMPORT}\n@pipeline()\ndef used(): node('a')\n\n@pipeline()\ndef unused(): node('a')"
    flows = f"{IMPORT}\nimport pipes\n\n@workflow()\ndef w():\n    step('a', pipes.used)"
    both = documents(compiled("flows", flows=flows, pipes=pipes).stdout)
    assert [one["name"] for one in both] == ["used", "w"]
    assert json.loads(compiled("flows:w").stdout)["name"] == "w"


def test_a_definition_with_several_names_is_compiled_once(compiled: Compile) -> None:
    flows = f"{GREET}\nsame = hello\n\n@workflow()\ndef other(who):\n    step('a', hello)"
    names = [one["name"] for one in documents(compiled("flows", flows=flows).stdout)]
    assert names == ["hello", "greet.all", "other"]
    broken = compiled("worse", worse=flows.replace('"hello", ', '"hello", qeue=1, '))
    assert broken.stderr.startswith("error: 1 problem, nothing compiled")


def test_what_the_module_prints_is_not_among_the_json(compiled: Compile) -> None:
    result = compiled("flows", flows=f"{GREET}\nprint('importing')")
    assert documents(result.stdout) == [HELLO, GREET_ALL]
    assert result.stderr == "importing\n"


def test_every_problem_has_the_place_in_the_function(compiled: Compile, tmp_path: Path) -> None:
    flows = f"""{IMPORT}
@pipeline()
def first(who):
    node("a")
    node("b", qeue="gpu")

def shared():
    node("c", timeout=item.x)

@pipeline()
def second(who):
    shared()

@pipeline()
def third(who):
    if who.name:
        node("d")

@workflow()
def fourth():
    return {{}}["x"]

@workflow()
def fifth():
    return 5
"""
    result = compiled("flows", "--out", "out", flows=flows)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "this is a bug in qwf" not in result.stderr
    [head, *lines] = result.stderr.splitlines()
    assert head == "error: 5 problems, nothing compiled"
    for line, (place, problem) in zip(
        lines,
        [
            ("flows.py:6, in first", "node 'b' does not take 'qeue'; did you mean 'queue'?"),
            ("flows.py:9, in shared", "timeout of node 'c' takes no reference"),
            ("flows.py:17, in third", "<pipeline.who.name> is known only in a run"),
            ("flows.py:22, in fourth", "KeyError: 'x'"),
            ("flows.py:24, in fifth", "the function of workflow 'fifth' returns its outputs"),
        ],
        strict=True,
    ):
        assert line.startswith(f"  {place}: {problem}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "flows", "says"),
    [
        (["flwos"], "", "there is no module 'flwos' in this folder or on PYTHONPATH"),
        (["no.such.one"], "", "there is no module 'no.such.one'"),
        (["flows.py"], "", "'flows.py' is a file: write the name of the module, 'flows'"),
        (["flows"], "import nowhere_", "flows.py:1, in <module>: ModuleNotFoundError: No module"),
        (["flows"], "x = 1 +", "cannot import 'flows'\n  SyntaxError: invalid syntax (flows.py,"),
        (["flows"], "raise SystemExit(3)", "flows.py:1, in <module>: SystemExit: 3"),
        (["flows"], f"{IMPORT}\n@pipeline(nam=1)\ndef p(): ...", "@pipeline() does not take 'nam'"),
        (["flows"], "x = 1", "module 'flows' has neither a pipeline nor a workflow\nhint: "),
        (["flows:gret"], GREET, "no pipeline or workflow of module 'flows'\nhint: did you mean"),
        (["flows:IMPORT"], GREET, "use one of greet, hello"),
        (["flows"], GREET + "\n@pipeline('hello')\ndef other(): ...",
         "flows.py:11, in other: pipeline 'hello' is also at flows.py:3, in hello"),
        (["flows", "--out", "flows.py"], GREET, "is a file"),
        (["flows", "--out", "flows.py/x"], GREET, "cannot write: "),
    ],
)  # fmt: skip
def test_says_what_is_wrong(compiled: Compile, words: list[str], flows: str, says: str) -> None:
    result = compiled(*words, flows=flows)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert says in result.stderr
    assert "bug in qwf" not in result.stderr


def test_writing_workflows_needs_nothing_but_python() -> None:
    script = "import sys, qwf_agent.app.workflows; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded - {*sys.stdlib_module_names, "__main__"} == {"qwf_agent"}

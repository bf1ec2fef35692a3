"""A type checker finds wrong uses of the functions that write workflows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.harness import PACKAGE
from support.servers import ROOT

TYPED = """
from datetime import timedelta
from pathlib import Path
from qwf_agent import App
from qwf_agent.app.workflows import (
    Reference, Value, coalesce, index, item, node, pipeline, question, ref, step, value, workflow,
)

app = App()

@app.task()
def resize(image: Path, width: int = 640) -> None: ...

@pipeline("shrink.all", inputs={"type": "object", "properties": {"images": {"type": "array"}}})
def shrink(images: Reference) -> dict[str, Value]:
    small = node(
        "resize", resize, map=images, inputs={"image": item.path, "width": ref(item.w, default=1)},
        queue="cpu", retry={"max_attempts": 3, "backoff": {"base": 1}}, on_failure="continue",
        timeout=timedelta(minutes=1), requires={"zone": "5"}, max_parallel=2, min_success="90%",
    )
    names: list[str] = ["a", "b"]
    node("pack", command=["zip", small[0].path, 3], skip_if=ref(small, eq=[]), depends_on=[small])
    node("note", inputs=[{"name": "x", "from": "resize.files"}], model=None, outputs=["x"])
    node("more", inputs={"n": index, "c": coalesce(item.a, names, default=None), "v": value({})})
    return {"small": small, "plain": {"type": "file"}}

@workflow(deadline="2 hours", schema="x.json")
def album(photo: Reference, folder: Reference) -> None:
    made = step("made", shrink, inputs={"images": photo["list"]})
    best = question("best", "choose_one", options=made.small, multiple=True, target="them")
    size = question("size", "number", min=1, max=9.5, expires=90, default=3, show=[made.small[0]])
    question("name", "text", pattern="^a", schema={"type": ["string", "null"]})
    question("mask", "paint_mask", own_keys={"over": made.small}, prompt="Where?")
    step("again", "shrink", skip_if=ref(best.them, ne=size.value), depends_on=[best, "made/pack"])

album.compile()["steps"]
shrink.name

def wrong(x: Reference) -> None:
"""
WRONG = [
    "node('a', qeue='cpu')",
    "node('a', queue=5)",
    "node('a', on_failure='ignore')",
    "node('a', timeout=x)",
    "node('a', retry={'max_atempts': 3})",
    "node('a', retry={'backoff': {'bse': 1}})",
    "node('a', requires={'zone': 5})",
    "node('a', inputs=x)",
    "node('a', inputs={'x': {1, 2}})",
    "node('a', skip_if='x')",
    "node('a', map=5)",
    "node('a', depends_on=[5])",
    "node('a', resize, foldr='x')",
    "node('a', 5)",
    "node(5)",
    "step('a')",
    "step('a', album)",
    "step('a', 'p', map=[1])",
    "question('a', 'confirm', options=[1])",
    "question('a', 'text', min_lenght=1)",
    "question('a', 'number', min='1')",
    "question('a', 'chose_one')",
    "question('a', 'paint_mask', own_keys={}, promt='x')",
    "ref(x, defalt=1)",
    "ref(5)",
    "ref(x, eq=1).more",
    "coalesce(x, eq=1)",
    "pipeline(dsplay_name='x')",
    "pipeline(inputs={'typ': 'object'})",
    "pipeline(inputs={'type': 'text'})",
    "workflow(deadline=[1])",
    "x == 3",
    "x < 3",
    "x + 1",
    "x()",
    "list(x)",
    "[one for one in x]",
    "album.compile(5)",
    "album.kidn",
]


def test_a_type_checker_finds_wrong_uses(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(TYPED + "".join(f"    {line}\n" for line in WRONG))
    right = [ROOT / "tests/workflows/user" / name for name in ("inspecting.py", "greeting.py")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
         f"--cache-dir={ROOT / '.mypy_cache' / 'typed'}", str(file), *map(str, right)],
        env={"MYPYPATH": str(PACKAGE), "PATH": ""}, capture_output=True, text=True,
    )  # fmt: skip
    errors = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    assert {Path(name).name for name, *_ in errors} == {file.name}, done.stdout
    found = {int(number) for _, number, *_ in errors}
    first = TYPED.count("\n") + 1
    assert found == set(range(first, first + len(WRONG))), done.stdout + done.stderr

"""How the parameters of a body are filled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from qwf_agent.app.values import to_json
from qwf_agent.child.body import BadOutput, Body, WrongArguments, encode_output
from qwf_agent.child.cancel import new_events
from qwf_agent.child.job_context import JobContext
from qwf_agent.child.messages import Work
from qwf_agent.child.saving import Saver
from qwf_agent.child.scoreboard import Scoreboard
from support.harness import Database

PIPELINE = {
    "name": "one",
    "inputs": {"type": "object", "properties": {"source": {"type": "string"}}},
    "nodes": [{"id": "look", "node": "wired", "inputs": {"source": {"$from": "pipeline.source"}}}],
}
WORKFLOW = {
    "name": "one",
    "steps": [
        {"id": "step", "kind": "pipeline", "pipeline": "one", "inputs": {"source": "/data/in.png"}}
    ],
}


PLACE = ("/out", "3f2a9c01", 1)


def given(**inputs: Any) -> JobContext:
    nothing = (None, None, None)
    fields = (
        1,
        1,
        None,
        None,
        "t",
        "q",
        1,
        "",
        *nothing,
        json.dumps(inputs),
        "",
        None,
        None,
        False,
        PLACE,
        None,
    )
    saver = Saver(lambda _: None, Scoreboard(), 1000)
    return JobContext(
        Work(*fields), Scoreboard(), new_events(), lambda *_: None, saver, lambda *_: None
    )


def test_a_node_gets_its_inputs_by_name(shared: Database) -> None:
    inputs = {"source": "/a", "other": "/b", "third": "/c", "count": None, "x": 1, "y": [2]}
    job = shared.ended(shared.enqueue("wired", inputs))
    assert job["output"] is not None, job["last_error"]
    output = job["output"]
    assert output["job"] == [job["id"], None, None, "wired", 1]
    assert output["inputs"] == sorted(inputs)
    assert output["types"] == ["PosixPath"] * 3
    assert output["count"] == 7, "null takes the default"
    assert output["model"] is None
    assert output["rest"] == {"x": 1, "y": [2]}


def test_files_in_the_folder_of_a_standalone_job_are_listed(shared: Database) -> None:
    job = shared.ended(shared.enqueue("wired", {"source": "/a"}))
    assert job["output"]["out"].endswith(f"/out/jobs/{job['id']}")
    query = (
        "select rel_path, kind, size_bytes, host from qwf.run_files where job_id = %s order by 1"
    )
    rows = shared.conn.execute(query, (job["id"],)).fetchall()
    assert [(r["rel_path"], r["kind"], r["size_bytes"]) for r in rows] == [
        ("deep/points.ply", "pointcloud", 3),
        ("picture.PNG", "image", 5),
    ]
    assert rows[0]["host"] == shared.one("select host from qwf.workers limit 1")


def test_a_node_of_a_run_writes_below_the_folder_of_the_run(
    shared: Database, tmp_path: Path
) -> None:
    shared.one("select qwf.register_pipeline(%s)", json.dumps(PIPELINE))
    shared.one("select qwf.register_workflow(%s)", json.dumps(WORKFLOW))
    run = shared.one("select qwf.enqueue_run('one', out_dir => %s)", str(tmp_path))
    job = shared.ended(shared.one("select id from qwf.jobs where run_id = %s", run))
    assert job["status"] == "completed", job["last_error"]
    assert job["output"]["job"] == [job["id"], run, "step/look", "wired", 1]
    assert job["output"]["out"] == f"{tmp_path}/{run}/step/look"
    assert (tmp_path / str(run) / "step" / "look" / "picture.PNG").is_file()
    query = "select rel_path from qwf.run_files where run_id = %s order by 1"
    rows = shared.conn.execute(query, (run,)).fetchall()
    assert [row["rel_path"] for row in rows] == [
        "step/look/deep/points.ply",
        "step/look/picture.PNG",
    ]


def test_a_body_that_does_not_ask_for_a_folder_makes_none(shared: Database) -> None:
    job = shared.ended(shared.enqueue("noop"))
    assert shared.one("select count(*) from qwf.run_files where job_id = %s", job["id"]) == 0


def test_null_stays_null_where_there_is_no_default() -> None:
    def body(a: Any, b: Any = 2) -> dict[str, Any]:
        return {"a": a, "b": b}

    assert Body(body)(given(a=None, b=None)) == {"a": None, "b": 2}


def test_false_and_zero_are_values_not_null() -> None:
    def body(a: Any = 1, b: Any = 2, c: Any = 3) -> list[Any]:
        return [a, b, c]

    assert Body(body)(given(a=0, b=False, c="")) == [0, False, ""]


def test_null_takes_the_default_unless_the_parameter_allows_none() -> None:
    def body(a: int = 1, b: int | None = 2, c: Optional[int] = 3) -> list[Any]:  # noqa: UP045
        return [a, b, c]

    def unresolved(a: NotImported = 1, b: NotImported | None = 2) -> list[Any]:  # type: ignore[name-defined]  # noqa: F821
        return [a, b]

    assert Body(body)(given(a=None, b=None, c=None)) == [1, None, None]
    assert Body(unresolved)(given(a=None, b=None)) == [1, None]


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({}, r"body\(\) needs the argument 'needed', which is missing"),
        ({"needed": 1, "subjcet": 2}, "'subjcet'; did you mean 'subject'"),
        ({"needed": 1, "model": "large"}, "cannot take the argument 'model': the agent fills the"),
    ],
)
def test_inputs_that_the_body_does_not_take_are_named(inputs: Any, reason: str) -> None:
    def body(needed: int, subject: int = 1, model: Any = None) -> None:
        pass

    with pytest.raises(WrongArguments, match=reason):
        Body(body)(given(**inputs))


def test_a_required_parameter_of_a_plain_type_takes_no_null() -> None:
    def body(count: int, name: Optional[str], anything: Any, untyped) -> list[Any]:  # type: ignore[no-untyped-def]  # noqa: UP045
        return [count, name, anything, untyped]

    rest = {"name": None, "anything": None, "untyped": None}
    assert Body(body)(given(count=1, **rest)) == [1, None, None, None]
    says = r"body\(\) needs the argument 'count', which is null: .* declare count: int \| None"
    with pytest.raises(WrongArguments, match=says):
        Body(body)(given(count=None, **rest))


class Tensor:
    def tolist(self) -> list[int]:
        return []


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ({"loss": [0.5, float("nan")]}, r"JSON compliant.* at loss\[1\]$"),
        ({"a": {"b": ({"c": Tensor()},)}}, r"type Tensor at a\.b\[0\]\.c: store its tolist\(\)$"),
    ],
)
def test_a_value_that_json_does_not_have_is_named_by_its_path(output: Any, reason: str) -> None:
    with pytest.raises(BadOutput, match=reason):
        encode_output(output, 1 << 20)
    with pytest.raises((TypeError, ValueError), match=reason):
        to_json(output)


def test_a_value_that_holds_itself_is_refused() -> None:
    itself: dict[str, Any] = {}
    itself["a"] = [itself]
    with pytest.raises(BadOutput, match="Circular"):
        encode_output(itself, 1 << 20)


def test_a_body_with_inputs_or_with_rest_takes_every_input() -> None:
    def whole(inputs: dict[str, Any], a: int = 0) -> list[Any]:
        return [inputs, a]

    def rest(a: int = 0, **rest: Any) -> list[Any]:
        return [rest, a]

    assert Body(whole)(given(a=1, b=2)) == [{"a": 1, "b": 2}, 1]
    assert Body(rest)(given(a=1, b=2)) == [{"b": 2}, 1]
    assert Body(rest)(given(a=None, job="x")) == [{"job": "x"}, 0]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"who": "Ada", "wo": "Bo"}, "say_hello() does not take the argument 'wo'; did you mean"),
        ({}, "say_hello() needs the argument 'who', which is missing"),
    ],
)
def test_a_job_with_wrong_arguments_fails_at_its_first_try(
    shared: Database, args: dict[str, Any], reason: str
) -> None:
    job = shared.ended(shared.enqueue("greet", args, max_attempts=5))
    assert (job["status"], job["attempt"]) == ("failed", 1)
    assert job["last_error"].startswith(reason)
    assert "Traceback" not in job["last_error"]


def test_positional_only_parameters_are_filled_too() -> None:
    def body(a: int, b: int = 5, /, *more: int, c: int) -> list[Any]:
        return [a, b, more, c]

    assert Body(body)(given(a=1, c=3)) == [1, 5, (), 3]
    assert Body(body)(given(a=1, b=2, c=3)) == [1, 2, (), 3]


def test_null_for_a_positional_only_parameter_moves_no_other() -> None:
    def body(a: int = 1, b: int = 2, /) -> list[Any]:
        return [a, b]

    assert Body(body)(given(a=None, b=5)) == [1, 5]


def test_only_text_becomes_a_path() -> None:
    def body(a: Path | int, b: Path | None, c: str) -> list[Any]:
        return [a, b, c]

    assert Body(body)(given(a=5, b="/x", c="/y")) == [5, Path("/x"), "/y"]


def test_an_annotation_that_cannot_be_resolved_is_read_as_text() -> None:
    def body(a: NotImported, b: Path) -> list[Any]:  # type: ignore[name-defined]  # noqa: F821
        return [a, b]

    assert Body(body)(given(a="x", b="/x")) == ["x", Path("/x")]


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000x", "x\\"])
def test_a_backslash_is_not_mistaken_for_a_nul(text: str) -> None:
    assert json.loads(encode_output({"x": text}, 1000)) == {"x": text}


@pytest.mark.parametrize("text", ["\0", "\\\0", "\\\\\0", "a\0\\u0000"])
def test_a_nul_is_found_behind_any_number_of_backslashes(text: str) -> None:
    with pytest.raises(BadOutput, match="NUL"):
        encode_output({"x": text}, 1000)

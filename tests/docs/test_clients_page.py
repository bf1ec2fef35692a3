"""The engine and the programs do what docs/clients.md says about answers, errors and programs."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest

from qwf_agent.agent import calls
from support.servers import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "clients.md").read_text(encoding="utf-8")
ASKING = """
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "hello", "node": "hello"}]}');
select qwf.register_workflow('{"name": "greet", "steps": [
  {"id": "greet", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go?", "target": "ok",
   "depends_on": ["greet"]}]}');
select qwf.enqueue_run('greet');
select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'w');
"""


def shapes() -> list[Any]:
    return [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)]


def test_the_shapes_of_a_result_and_of_a_run_are_as_documented(db: psycopg.Connection[Any]) -> None:
    result, run_status = shapes()[:2]
    db.execute(ASKING)
    ((job, run),) = db.execute("select min(id), min(run_id) from qwf.jobs").fetchall()
    ((got,),) = db.execute("select qwf.result(%s)", (job,)).fetchall()
    assert set(got) == set(result)
    ((got,),) = db.execute("select qwf.run_status(%s)", (run,)).fetchall()
    assert set(got) == set(run_status)
    assert set(got["run"]) == set(run_status["run"])
    (asked,) = [node for node in got["nodes"] if node["status"] == "awaiting_input"]
    assert set(asked) == set(run_status["nodes"][0])
    assert set(asked["question"]) == set(run_status["nodes"][0]["question"])
    (done,) = [node for node in got["nodes"] if node["status"] == "completed"]
    assert set(asked) - set(done) == {"question"}, "only an open question has one"


def test_one_unknown_id_fails_a_call_for_many_results_and_is_named(
    db: psycopg.Connection[Any],
) -> None:
    db.execute("select qwf.enqueue('t')")
    with pytest.raises(psycopg.Error) as refused:
        db.execute("select qwf.result(id) from unnest('{1, 99}'::bigint[]) id")
    error = refused.value
    assert (error.sqlstate, "99" in str(error.diag.message_detail)) == ("QW001", True)


def test_one_list_says_which_errors_of_a_report_are_final() -> None:
    chapter = (DOCS / "errors.md").read_text(encoding="utf-8").split("## When a report fails")[1]
    listed = re.findall(r"^\| `(\w\w)` \|", chapter.split("\n## ")[0], re.M)
    assert listed == list(calls.DATA_ERRORS)
    for program in ("node/worker.mjs", "ruby/worker.rb", "psql/worker.sh", "go/worker.go"):
        text = (ROOT / "examples" / "clients" / program).read_text(encoding="utf-8")
        (classes,) = re.findall(r"\(((?:\w\w\|)+\w\w)\)", text)
        assert classes.split("|") == listed, program
    assert not calls.Failure("a pooler sent it elsewhere", "26000").by_data


def test_the_table_of_a_worker_names_functions_settings_and_details_that_exist(
    db: psycopg.Connection[Any],
) -> None:
    chapter = PAGE.split("### All that a complete worker does")[1].split("\n###")[0]
    ((settings,),) = db.execute("select qwf.agent_settings('cpu')").fetchall()
    functions = {name for (name,) in db.execute(
        "select proname from pg_proc where pronamespace = 'qwf'::regnamespace")}  # fmt: skip
    called = set(re.findall(r"`(\w+)\(", chapter))
    assert called
    assert called <= functions
    first = re.findall(r"`(\w+)`", chapter.split("`agent_settings(queue)`:")[1].split("|")[0])
    assert {"lease", "stop_grace", "max_log_bytes", "generation"} <= set(first) <= set(settings)


# A call in the page, up to the end of its arguments; one pair of parentheses may stand in them.
CALL = re.compile(r"(`|qwf\.)([a-z_]+)\(((?:[^()]|\([^()]*\))*)\)")


def test_every_call_on_the_page_is_one_of_the_engine(db: psycopg.Connection[Any]) -> None:
    """Names, named arguments, and arguments in their order are as the catalogue has them."""
    has = dict(
        db.execute(
            "select proname, array(select n from unnest(proargnames, coalesce(proargmodes::text[],"
            " array_fill('i'::text, array[pronargs]))) a (n, mode) where mode = 'i')"
            " from pg_proc where pronamespace = 'qwf'::regnamespace"
        ).fetchall()
    )
    calls_of_page = CALL.findall(PAGE)
    wrong = []
    for mark, name, arguments in calls_of_page:
        if name not in has:
            wrong += [f"{name}()"] if mark == "qwf." else []
            continue
        given = [part.strip() for part in arguments.split(",")] if arguments.strip() else []
        named = set(re.findall(r"\b([a-z_]+) =>", arguments))
        wrong += [f"{name}({one} =>)" for one in sorted(named - set(has[name]))]
        plain = [part for part in given if re.fullmatch(r"[a-z_]+", part)]
        if mark == "`" and plain == given and plain != has[name][: len(plain)]:
            wrong.append(f"{name}({arguments}), which has {has[name]}")
    assert wrong == []
    assert len([name for _, name, _ in calls_of_page if name in has]) > 60
    relations = {name for (name,) in db.execute(
        "select relname from pg_class where relnamespace = 'qwf'::regnamespace")}  # fmt: skip
    named_ones = set(re.findall(r"\bqwf\.([a-z_]+)\b(?!\()", PAGE))
    assert named_ones - relations - has.keys() <= {"acting_for"}  # a setting of the session

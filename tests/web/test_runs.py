"""The pages of runs: what they show, to whom they give which buttons, and what the buttons do."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.look.masking import MASK
from qwf_agent.web.pages import run_tabs, run_timeline
from support import poison
from support.visitors import FORM, Visit, Visitor

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Db = psycopg.Connection[Any]

NODES = [
    {"id": "list", "node": "list_photos"},
    {
        "id": "score",
        "node": "score_photo",
        "depends_on": ["list"],
        "map": {"$from": "list.images"},
        "inputs": {"image": {"$from": "item"}},
        "min_success": 1,
    },
    {"id": "report", "node": "write_report", "depends_on": ["score"]},
]
QUESTION = {"id": "approve", "kind": "input", "widget": "confirm", "prompt": "Publish it?"}
TRACEBACK = "Traceback (most recent call last):\n  File x\nValueError: cannot read photo-1.jpg"


def one(db: Db, query: LiteralString, *parameters: Any) -> Any:
    return poison.one(db, query, *parameters)


def define(db: Db, nodes: list[dict[str, Any]] = NODES, name: str = "photos") -> None:
    one(db, "select qwf.register_pipeline(%s)", Jsonb({"name": name, "nodes": nodes}))
    step = {"id": "all", "kind": "pipeline", "pipeline": name}
    steps = [step, {**QUESTION, "depends_on": ["all"]}]
    workflow = {"name": name, "deadline": "6 hours", "steps": steps}
    one(db, "select qwf.register_workflow(%s)", Jsonb(workflow))


def claim(db: Db) -> tuple[int, str, str]:
    """Claims a job as box-a: its id, its token and its node."""
    worker = one(
        db,
        "select coalesce(min(id), qwf.register_worker('box-a', 'cpu', '{}')) from qwf.workers",
    )
    (held,) = db.execute(
        "select c.job_id, c.token, j.node_id from qwf.claim('cpu', %s, 1) c"
        " join qwf.jobs j on j.id = c.job_id",
        (worker,),
    ).fetchall()
    return held


def report(db: Db, held: tuple[int, str, str], outcome: str = "completed", **more: Any) -> None:
    written = {"job_id": held[0], "token": str(held[1]), "outcome": outcome, **more}
    assert db.execute("select * from qwf.finish_many(%s)", (Jsonb([written]),)).fetchall()


def failed_run(db: Db) -> int:
    """A run whose first node has failed."""
    define(db)
    run = one(db, "select qwf.enqueue_run('photos', '{\"album\": \"rome\"}')")
    detail = {"log_tail": "no such file", "cpu_seconds": 2, "gpu_peak_bytes": 5000000}
    report(db, claim(db), "fatal", error=TRACEBACK, detail=detail)
    return int(run)


def run_with_elements(db: Db) -> int:
    """A run whose map has a completed, a failed and a queued element."""
    define(db)
    run = one(db, "select qwf.enqueue_run('photos')")
    report(db, claim(db), output={"images": ["a", "b", "c"]})
    report(db, claim(db), output={"score": 1})
    report(db, claim(db), "fatal", error=TRACEBACK)
    return int(run)


def send(visitor: Visitor, path: str, action: str, **fields: Any) -> str:
    """Sends a form of the page at `path`; returns what is said afterwards."""
    form = {"csrf": hidden(visitor.text(path), "csrf")[0], **fields}
    headers = {**FORM, "HX-Request": "true"}
    return words(visitor.client.post(f"/do/{action}", data=form, headers=headers).text)


def hidden(text: str, name: str) -> list[str]:
    """The values of the hidden fields of this name."""
    return re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', text)


def words(text: str) -> str:
    """Words that a reader sees of a page."""
    shown = re.sub(
        r"<(script|style|datalist).*?</\1>|<details class=\"sql\".*", " ", text, flags=re.S
    )
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def listed(visitor: Visitor, path: str) -> list[int]:
    """The runs that a list shows."""
    return [int(run) for run in re.findall(r'<tr data-row id="run-(\d+)"', visitor.text(path))]


# The list -----------------------------------------------------------------------------------------


def test_the_list_says_how_far_runs_are_and_what_went_wrong(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    one(db, "select qwf.enqueue_run('photos', project => 'museum', key => 'k1')")
    text = words(visit("viewer").text("/runs"))
    assert f"{run} photos @1" in text
    assert "0 of 4" in text
    assert "1 failed" in text
    assert "cannot read photo-1.jpg" in text
    assert "museum k1" in text
    assert "fails in 5 h 59 min" in text


@pytest.mark.parametrize(
    "query",
    ["status=queued", "workflow=other", "project=museum", "label=side%3Dleft", "key=k1",
     "label=%7B%22n%22%3A1%7D", "since=2h&project=museum", "error=cut&status=cancelled"],
)  # fmt: skip
def test_a_filter_leaves_what_it_names(visit: Visit, db: Db, query: str) -> None:
    run = failed_run(db)
    define(db, name="other")
    wanted = one(
        db,
        "select qwf.enqueue_run('other', project => 'museum', key => 'k1',"
        ' labels => \'{"side": "left", "n": 1}\')',
    )
    if "cancelled" in query:
        one(db, "select qwf.cancel_run(%s, 'the power was cut')", wanted)
    assert listed(visit("viewer"), f"/runs?{query}") == [wanted] != [run]


@pytest.mark.parametrize(
    "query",
    ["status=faild", "since=whenever", "label=left", "key=%00", "since=999999w", "q=queue:cpu"],
)
def test_a_filter_that_means_nothing_is_said(visit: Visit, query: str) -> None:
    assert 'role="alert"' in visit("viewer").text(f"/runs?{query}")


def test_older_runs_are_behind_a_link(visit: Visit, db: Db) -> None:
    define(db)
    runs = [one(db, "select qwf.enqueue_run('photos', project => 'p')") for _ in range(60)]
    viewer = visit("viewer")
    (link,) = re.findall(r'<a href="([^"]+)">Older runs</a>', viewer.text("/runs?project=p"))
    newest = listed(viewer, "/runs?project=p")
    assert newest + listed(viewer, html.unescape(link)) == runs[::-1]


def test_an_empty_list_says_how_to_start_a_run(visit: Visit, db: Db) -> None:
    viewer = visit("viewer")
    assert "qwf apply DIR" in words(viewer.text("/runs"))
    define(db)
    assert "qwf run photos" in words(visit("viewer").text("/runs"))


# Many at once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("picked", [True, False])
def test_many_runs_are_counted_and_then_retried(visit: Visit, db: Db, picked: bool) -> None:
    run = failed_run(db)
    other = one(db, "select qwf.enqueue_run('photos')")
    operator = visit("operator")
    query = f"run={run}&run={other}" if picked else "workflow=photos"
    text = operator.text(f"/runs/change?verb=retry&{query}")
    assert "Retry 1 run" in words(text)
    assert ("1 of the selected are left out" in words(text)) is picked
    assert hidden(text, "runs") == [str(run)]
    form = {"csrf": hidden(text, "csrf")[0], "back": "/runs", "runs": [str(run), str(other)]}
    answer = operator.client.post("/do/retry_runs", data=form, headers=FORM)
    assert "1 of 2 runs go on" in words(answer.text)
    assert f"not {other}: the run is not over" in words(answer.text)
    assert one(db, "select status::text from qwf.runs where id = %s", run) == "queued"


def test_a_reason_is_given_when_many_are_cancelled(visit: Visit, db: Db) -> None:
    define(db)
    runs = [one(db, "select qwf.enqueue_run('photos')") for _ in range(3)]
    operator, here = visit("operator"), "/runs/change?verb=cancel&status=queued"
    picked = hidden(operator.text(here), "runs")
    assert picked == [str(run) for run in runs[::-1]]
    said = send(operator, here, "cancel_runs", runs=picked, reason="too many")
    assert "3 of 3 runs cancelled" in said
    assert one(db, "select count(*) from qwf.runs where error like '%%: too many'") == 3


def test_what_can_not_be_done_is_said_before(visit: Visit, db: Db) -> None:
    failed_run(db)
    text = words(visit("operator").text("/runs/change?verb=cancel&status=failed"))
    assert "they are all over" in text
    assert visit("operator").get("/runs/change?verb=drop").status_code == 404
    assert "Cancel 1 run" not in words(
        visit("viewer").text("/runs/change?verb=cancel&workflow=photos")
    )


@pytest.mark.parametrize("verb", ["cancel", "retry"])
@pytest.mark.parametrize(
    "query",
    [
        "",
        "&of=selected",
        "&of=selected&status=failed",
        "&workflow=",
        "&run=x&status=failed",
        "&before=9",
    ],
)
def test_a_change_of_no_selected_run_is_refused_and_never_means_all(
    visit: Visit, db: Db, verb: str, query: str
) -> None:
    failed_run(db)
    define(db)
    one(db, "select qwf.enqueue_run('photos')")
    answer = visit("operator").get(f"/runs/change?verb={verb}{query}")
    assert answer.status_code == 400
    assert f"Tick the runs to {verb} in the list first" in words(answer.text)
    assert hidden(answer.text, "runs") == []


def test_the_form_of_the_list_says_that_it_is_about_selected_runs(visit: Visit, db: Db) -> None:
    define(db)
    one(db, "select qwf.enqueue_run('photos')")
    assert hidden(visit("operator").text("/runs"), "of") == ["selected"]


# A run --------------------------------------------------------------------------------------------


def test_a_failed_run_shows_its_error_and_log_first(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    text = visit("viewer").text(f"/runs/{run}")
    for shown in ("all/list", "list_photos", "try 1 on box-a", "cannot read photo-1.jpg"):
        assert shown in words(text)
    assert text.index("no such file") < text.index('id="nodes"')
    assert "0 of 4 nodes done" in words(text)


def test_versions_that_are_not_current_are_named_and_compared(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    define(db, [{**NODES[0], "timeout": "10 min"}, *NODES[1:]])
    viewer = visit("viewer")
    assert "photos@1, current: @2" in words(viewer.text(f"/runs/{run}"))
    text = words(viewer.text(f"/runs/{run}?show=definition"))
    assert "Pipeline photos has changed: @1 ran, @2 is current" in text
    assert '+ "timeout": "10 min"' in text


def test_buttons_are_those_of_the_level(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    assert 'action="/do/' not in visit("viewer").text(f"/runs/{run}")
    assert f'href="/runs/{run}?show=retry"' in visit("operator").text(f"/runs/{run}")
    assert 'action="/do/retry_run"' in visit("operator").text(f"/runs/{run}?show=retry")
    plan = visit("viewer").text(f"/runs/{run}?show=retry")
    assert "What a retry does" in plan
    assert 'action="/do/' not in plan
    assert visit("viewer").do("retry_run", run_id=run).status_code == 403
    assert one(db, "select status::text from qwf.runs where id = %s", run) == "failed"


def test_a_run_is_retried_and_cancelled(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    operator = visit("operator")
    here = f"/runs/{run}"
    assert "in its last try" not in operator.text(here)
    db.execute("update qwf.runs set started_at = started_at - interval '9 h' where id = %s", (run,))
    assert "goes on" in send(operator, f"{here}?show=retry", "retry_run", run_id=run, from_node="")
    text = words(operator.text(here))
    assert "so far, in its last try" in text
    assert "9 h" not in text, "the hours while it was failed are no running"
    assert 'name="run_next" value="true"' in visit("operator").text(f"/runs/{run}")
    assert 'action="/do/cancel_run"' in visit("operator").text(f"/runs/{run}")
    said = send(operator, here, "cancel_run", run_id=run, reason="wrong album")
    assert "is cancelled" in said
    text = words(visit("operator").text(f"/runs/{run}"))
    assert "Why it was cancelled" in text
    assert "wrong album" in text
    assert "retried" in words(visit("operator").text(f"/runs/{run}?show=history"))


def test_what_may_have_run_is_ticked_one_by_one(visit: Visit, db: Db) -> None:
    define(db, [{"id": "mail", "node": "mail", "at_most_once": True, "on_failure": "continue"},
                {"id": "log", "node": "log"}])  # fmt: skip
    run = one(db, "select qwf.enqueue_run('photos')")
    for outcome in ("lost", "fatal"):
        report(db, claim(db), outcome)
    operator = visit("operator")
    here = f"/runs/{run}?show=retry"
    text = operator.text(here)
    assert "may have run. Look whether they have, and tick those that have not." in words(text)
    (node,) = re.findall(r'type="checkbox" name="named" value="([^"]+)"', text)
    assert "it may have run" in operator.do("retry_run", run_id=run).text
    assert "goes on" in operator.do("retry_run", run_id=run, named=node).text
    assert "at most once" in words(operator.text("/workflows/photos"))


def test_a_run_is_retried_from_a_node(visit: Visit, db: Db) -> None:
    define(db, [{"id": "a", "node": "a"}, {"id": "b", "node": "b", "depends_on": ["a"]}])
    run = one(db, "select qwf.enqueue_run('photos')")
    report(db, claim(db))
    report(db, claim(db))
    one(db, "select qwf.submit_input(%s, 'approve', 'true')", run)
    operator = visit("operator")
    assert "there is nothing to retry" in words(operator.text(f"/runs/{run}?show=retry"))
    plan = operator.text(f"/runs/{run}?show=retry&node=all%2Fb")
    assert '<option value="all/b" selected>' in plan
    assert "Retry: 2 nodes run" in plan
    here = f"/runs/{run}?show=retry&node=all%2Fb"
    send(operator, here, "retry_run", run_id=run, from_node="all/b")
    query = "select string_agg(status::text, ' ' order by node_idx) from qwf.jobs"
    assert one(db, query) == "completed queued blocked"


def test_the_plan_of_a_retry_is_shown_before_its_button_does_it(visit: Visit, db: Db) -> None:
    """With the definitions of now and another context; what is wrong with them is said there."""
    nodes = [{"id": "a", "inputs": {"day": {"$from": "day"}}}, {"id": "b", "depends_on": ["a"]}]
    define(db, nodes)
    run = one(db, """select qwf.enqueue_run('photos', '{"day": 1}')""")
    report(db, claim(db))
    report(db, claim(db), "fatal")
    define(db, [nodes[0], {**nodes[1], "inputs": {"x": 1}}, {"id": "c"}])
    operator, here = visit("operator"), f"/runs/{run}?show=retry"
    plan = words(operator.text(f"{here}&latest=true"))
    assert "1 reused, 2 run again, 1 new" in plan
    assert "all/b runs again its definition changed" in plan
    assert "With the definitions of now: photos@2, not @1" in plan
    assert "reads day of the context" in words(operator.text(f'{here}&context={{"day": 2}}'))
    assert "context: a JSON object, not list" not in plan
    for wrong in ("[1]", "{"):
        text = operator.text(f"{here}&context={wrong}")
        assert 'role="alert"' in text
        assert 'action="/do/retry_run"' not in text
    fields = {"run_id": run, "latest": "true", "context": '{"day": 2}'}
    assert "goes on" in send(operator, here, "retry_run", **fields)
    assert one(db, "select context::text from qwf.runs") == '{"day": 2}'
    query = "select string_agg(node_id, ' ' order by node_idx) from qwf.jobs where queue <> ''"
    assert one(db, query) == "all/a all/c all/b"
    assert "What a retry does" not in operator.text(here), "it is not over"


def test_a_retry_names_the_clean_up_that_has_completed(visit: Visit, db: Db) -> None:
    nodes = [
        {"id": "charge", "node": "a"},
        {"id": "ship", "node": "b", "depends_on": ["charge"]},
        {"id": "refund", "node": "c", "depends_on": ["ship"], "run_if": "all_done"},
    ]
    define(db, nodes)
    run = one(db, "select qwf.enqueue_run('photos')")
    for outcome in ("completed", "fatal", "completed"):
        report(db, claim(db), outcome)
    operator = visit("operator")
    plan = words(operator.text(f"/runs/{run}?show=retry"))
    assert "Clean-up has completed: all/refund" in plan
    said = words(operator.do("retry_run", run_id=run).text)
    assert f"run {run} goes on; clean-up of run {run} has completed: all/refund" in said
    assert "Clean-up has completed" not in words(operator.text(f"/runs/{run}"))


def test_a_retry_asks_what_becomes_of_what_was_not_taken_back(visit: Visit, db: Db) -> None:
    define(db, [{"id": "charge", "node": "a"}, {"id": "ship", "node": "b"},
                {"id": "refund", "node": "c", "compensates": ["charge"]}])  # fmt: skip
    run = one(db, "select qwf.enqueue_run('photos', '{\"x\": 1}')")
    for _ in range(2):
        report(db, claim(db))
    one(db, "select qwf.submit_input(%s, 'approve', 'true')", run)
    operator, here = visit("operator"), f"/runs/{run}?show=retry&node=all%2Fcharge"
    text = operator.text(here)
    said = "all/charge has completed, and is not taken back. What is to become of what it did?"
    assert said in words(text)
    assert 'action="/do/retry_run"' not in text
    assert re.findall(r'name="completed" value="(\w+)"', text) == ["compensate", "keep"]
    chosen = operator.text(f"{here}&completed=compensate")
    assert "all/refund runs first it takes back all/charge" in words(chosen)
    fields = {"run_id": run, "from_node": "all/charge", "completed": "compensate"}
    assert ("completed", "compensate") in re.findall(
        r'<input type="hidden" name="(\w+)" value="([^"]*)"', chosen
    )
    assert "goes on" in send(operator, f"{here}&completed=compensate", "retry_run", **fields)
    text = words(operator.text(f"/runs/{run}"))
    assert "Takes back first what its retry runs again" in text
    report(db, claim(db))
    assert "Takes back first" not in words(visit("viewer").text(f"/runs/{run}"))
    query = "select string_agg(status::text, ' ' order by node_idx) from qwf.jobs where queue <> ''"
    assert one(db, query) == "queued completed skipped"


def test_a_question_is_shown_and_who_answered_it(visit: Visit, db: Db) -> None:
    define(db, [{"id": "a", "node": "a"}])
    run = one(db, "select qwf.enqueue_run('photos')")
    report(db, claim(db))
    job = one(db, "select id from qwf.jobs where status = 'awaiting_input'")
    text = visit("viewer").text(f"/runs/{run}")
    assert "Publish it?" in words(text)
    assert f'href="/inputs/{job}"' in text
    one(db, "select qwf.submit_input(%s, 'approve', 'true', acting_for => 'ada')", run)
    assert "ada" in words(visit("viewer").text(f"/runs/{run}?show=history"))


def test_a_run_is_started_again_with_a_changed_context(visit: Visit, db: Db) -> None:
    define(db)
    context = '{"token": "s3cret", "n": 9007199254740993, "x": 0.10000000000000000001}'
    run = one(db, "select qwf.enqueue_run('photos', %s)", context)
    operator, here = visit("operator"), f"/runs/{run}?show=definition"
    text = operator.text(here)
    (written,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", text, re.S)
    assert "9007199254740993" in written
    assert "0.10000000000000000001" in written
    assert "s3cret" not in text
    again = html.unescape(written).replace(MASK, "other")
    send(operator, here, "enqueue_run", workflow="photos@1", context=again)
    query = "select context ->> 'n' || ' ' || (context ->> 'token') from qwf.runs where id > %s"
    assert one(db, query, run) == "9007199254740993 other"


def test_tabs_show_what_was_returned_used_and_written(visit: Visit, db: Db) -> None:
    define(db)
    run = one(db, "select qwf.enqueue_run('photos')")
    file = {"rel_path": "all/list/a.png", "kind": "image", "size_bytes": 2048}
    detail = {"files": [file], "host": "box-a", "cpu_seconds": 90}
    held = claim(db)
    report(db, held, output={"images": ["one.jpg"]}, detail=detail)
    viewer = visit("viewer")
    assert "one.jpg" in words(viewer.text(f"/runs/{run}?show=outputs"))
    files = viewer.text(f"/runs/{run}?show=files")
    assert f'href="/files/{held[0]}/1"' in files
    assert "2.0 KiB" in words(files)
    drawn = viewer.text(f"/runs/{run}?show=timeline")
    assert "too many attempts" not in drawn
    assert "1 min 30 s" in words(drawn)
    assert f'href="/jobs/{held[0]}"' in drawn
    assert "Nothing has happened yet" in words(viewer.text(f"/runs/{run}?show=history"))


def test_a_timeline_says_that_a_bar_stands_for_many_attempts(visit: Visit, db: Db) -> None:
    define(db)
    run = one(db, "select qwf.enqueue_run('photos')")
    report(db, claim(db))
    db.execute(
        "insert into qwf.job_attempts (job_id, attempt, token, worker, started_at, finished_at,"
        " outcome) select job_id, attempt + n, gen_random_uuid(), worker, started_at, finished_at,"
        " 'error' from qwf.job_attempts, generate_series(1, %s) n",
        (run_timeline.MOST_BARS,),
    )
    db.execute("update qwf.jobs set node_idx = node_idx + 100 where run_id = %s", (run,))
    drawn = visit("viewer").text(f"/runs/{run}?show=timeline")
    assert "There are too many attempts for a bar each" in drawn
    assert "41 attempts, 40 failed" in drawn


def test_a_run_beside_another_says_what_differs(visit: Visit, db: Db) -> None:
    define(
        db,
        [
            {"id": "quick", "node": "t", "queue": "cpu"},
            {"id": "slow", "node": "t", "queue": "cpu", "depends_on": ["quick"]},
        ],
    )
    runs = []
    for size in (1, 2):
        runs.append(one(db, "select qwf.enqueue_run('photos', %s)", Jsonb({"size": size})))
        report(db, claim(db))
        report(db, claim(db), "fatal" if size == 2 else "completed")
    first, second = runs
    db.execute(
        "update qwf.job_attempts a set started_at = a.finished_at - interval '9 s' from qwf.jobs j"
        " where j.id = a.job_id and j.run_id = %s and j.node_id like '%%quick'", (second,)
    )  # fmt: skip
    page = visit("viewer").text(f"/runs/{second}?against={first}")
    text = words(page)
    assert f"Run {second} beside run {first}" in text
    assert '- "size": 1 + "size": 2' in text
    assert "3 of 3 nodes differ in state or time, and come first" in text
    assert text.index("all/slow") < text.index("all/quick")  # how it ended matters most
    assert "9.0 s" in text
    assert f"There is no other run {second + 9}" in words(
        visit("viewer").text(f"/runs/{second}?against={second + 9}")
    )


def test_a_run_that_was_retried_says_its_earlier_tries(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    db.execute("select qwf.retry_run(%s, context => '{\"size\": 7}')", (run,))
    text = words(visit("viewer").text(f"/runs/{run}"))
    assert re.search(r"Try 1: ✗ failed after .* then retried .* by postgres inputs changed", text)
    assert "retried inputs changed" in words(visit("viewer").text(f"/runs/{run}?show=history"))


def test_an_event_that_was_given_up_is_shown(visit: Visit, db: Db) -> None:
    run = failed_run(db)
    db.execute(
        "insert into qwf.outbox (run_id, kind, tries, error, poisoned_at)"
        " values (%s, 'ready', 5, 'it is broken', now())",
        (run,),
    )
    assert "given up: ready: it is broken" in words(visit("viewer").text(f"/runs/{run}"))
    assert "Still to be applied" in words(visit("viewer").text(f"/runs/{run}?show=history"))


def test_many_nodes_are_shown_a_page_at_a_time(visit: Visit, db: Db) -> None:
    define(db, [{"id": f"n{i}", "node": "t"} for i in range(250)])
    run = one(db, "select qwf.enqueue_run('photos')")
    held = claim(db)
    viewer = visit("viewer")

    def nodes(query: str) -> list[str]:
        return re.findall(r'<tr data-row id="node-(\d+)"', viewer.text(f"/runs/{run}{query}"))

    assert nodes("") == [str(held[0])]  # what runs comes first
    first, second = nodes("?state=all"), nodes("?state=all&from=200")
    assert (len(first), len(second), len({*first, *second})) == (200, 51, 251)
    assert len(nodes("?state=blocked")) == 1
    assert nodes("?state=all&step=approve") == nodes("?state=blocked")


@pytest.mark.parametrize("text", ["0", "99", "x", "9" * 30, "-1"])
def test_a_run_that_is_not_there_is_said(visit: Visit, db: Db, text: str) -> None:
    failed_run(db)
    answer = visit("viewer").get(f"/runs/{text}")
    assert answer.status_code == 404
    assert "There is no run" in words(answer.text)
    assert visit("viewer").get(f"/runs/{text}/states").status_code == 404


def test_a_run_that_was_pruned_is_said(visit: Visit, db: Db) -> None:
    failed_run(db)
    db.execute("delete from qwf.jobs; delete from qwf.runs")
    define(db)
    last = one(db, "select qwf.enqueue_run('photos')")
    text = words(visit("viewer").get("/runs/1").text)
    assert "Run 1 is gone" in text
    assert f"The oldest that is left is run {last}" in text


# Its graph and its maps ---------------------------------------------------------------------------


def test_the_graph_has_its_states_apart_and_maps_as_one_box(visit: Visit, db: Db) -> None:
    run = run_with_elements(db)
    viewer = visit("viewer")
    structure = viewer.get(f"/runs/{run}/structure").json()
    states = viewer.get(f"/runs/{run}/states").json()
    assert structure["key"] == states["key"]
    labels = {box["label"]: box["id"] for box in structure["boxes"]}
    assert list(labels) == ["list", "score", "report", "approve"]
    score = states["boxes"][labels["score"]]
    assert score["counts"] == {"completed": 1, "failed": 1, "queued": 1}
    assert score["href"] == f"/runs/{run}/nodes/all/score"
    assert len(structure["edges"]) == 3


def test_a_run_is_followed_without_reading_its_graph_again(visit: Visit, db: Db) -> None:
    run, viewer = failed_run(db), visit("viewer")
    paths = (f"/runs/{run}", f"/runs/{run}/states", f"/runs/{run}?show=timeline")
    for path in paths:
        assert viewer.get(path).status_code == 200
    db.execute("alter function qwf.workflow_graph rename to gone")
    try:
        db.execute("select qwf.retry_run(%s)", (run,))
        viewer.do("pause_queue", name="default")  # after any action all else is read again
        assert [viewer.get(path).status_code for path in paths] == [200, 200, 200]
        assert "queued" in words(viewer.text(f"/runs/{run}"))
        assert "workflow_graph" in viewer.text(f"/runs/{run}")  # "Show the SQL" has it all the same
    finally:
        db.execute("alter function qwf.gone rename to workflow_graph")


def test_a_map_shows_its_elements(visit: Visit, db: Db) -> None:
    run = run_with_elements(db)
    viewer, here = visit("viewer"), f"/runs/{run}/nodes/all/score"
    text = viewer.text(here)
    assert "1 of 3 elements completed" in words(text)
    assert "1 must complete" in words(text)
    assert "cannot read photo-1.jpg" in words(text)

    def elements(query: str) -> list[str]:
        return re.findall(r'<tr data-row id="element-(\d+)"', viewer.text(here + query))

    assert elements("") == ["0", "1", "2"]
    assert elements("?status=failed") == ["1"]
    assert elements("?from=2") == ["2"]
    assert elements(f"?from={2**63 - 1}") == []
    assert viewer.get(f"/runs/{run}/cells/all/score").json()["cells"] == "cfq"
    assert "runs once" in words(viewer.text(f"/runs/{run}/nodes/all/list"))
    assert viewer.get(f"/runs/{run}/nodes/all/nope").status_code == 404


def test_a_repeat_shows_its_turns(visit: Visit, db: Db) -> None:
    """The run and the node say at which turn it is, and what is delayed when it starts."""
    until = {"$from": "item.ready", "$default": False}
    repeat = {"until": until, "max": 720, "every": "500 s"}
    nodes = [
        {"id": "look", "node": "t", "repeat": repeat},
        {"id": "later", "node": "t", "delay": "9 h"},
    ]
    define(db, nodes, "poll")
    run = one(db, "select qwf.enqueue_run('poll')")
    report(db, claim(db))
    viewer = visit("viewer")
    assert "turn 1 of 720, next in 8 min" in words(viewer.text(f"/runs/{run}"))
    text = words(viewer.text(f"/runs/{run}/nodes/all/look"))
    assert "1 of 2 turns completed" in text
    assert "Turn 1 of 720, next in 8 min" in text
    states = viewer.get(f"/runs/{run}/states").text
    assert "turn 1 of 720, next in 8 min" in states
    shown = words(viewer.text("/workflows/poll"))
    assert "turn after turn, at most 720, every 500 s" in shown
    assert "waits 9 h" in shown


def test_an_element_took_as_long_as_its_attempts_ran(visit: Visit, db: Db) -> None:
    run, viewer = run_with_elements(db), visit("viewer")
    db.execute("""update qwf.job_attempts set started_at = finished_at - interval '3 s'
      where outcome = 'fatal'""")
    db.execute("""update qwf.jobs set claimed_at = finished_at - interval '900 s',
        last_error = 'waited for its next try' where status = 'failed' and element = 1""")
    db.execute("""update qwf.job_attempts a set started_at = finished_at - interval '2 s'
      where job_id = (select id from qwf.jobs where element = 0)""")
    text = viewer.text(f"/runs/{run}/nodes/all/score")
    slow = re.findall(r'id="slow-(\d+)">.*?data-label="took">([^<]*)<', text, re.S)
    assert slow == [("1", "3.0 s"), ("0", "2.0 s")]
    assert re.search(r'<td colspan="5" class="error one-line"[^>]*>waited for its next try', text)


def test_failures_that_are_not_shown_are_a_link(visit: Visit, db: Db) -> None:
    nodes = [{"id": f"n{number}", "node": "t"} for number in range(5)]
    define(db, nodes, "wide")
    run = one(db, "select qwf.enqueue_run('wide')")
    report(db, claim(db), "fatal", error="no disk")
    db.execute(
        "update qwf.jobs set status = 'failed', finished_at = now(), claimed_by = 'w',"
        " last_error = id || 'x' where run_id = %s and status = 'cancelled'",
        (run,),
    )
    page = visit("viewer").text(f"/runs/{run}")
    more = re.search(r'<a href="([^"]*)">(\d+) more failed</a>', page)
    assert more is not None
    assert html.unescape(more[1]) == f"/jobs?run_id={run}&status=failed"


def test_hostile_values_are_only_text(visit: Visit, db: Db) -> None:
    poison.fill(db)
    runs = [row[0] for row in db.execute("select id from qwf.runs")]
    db.execute(
        "update qwf.runs set project = %(bad)s, workflow = %(bad)s, out_dir = %(bad)s,"
        " key = %(bad)s || id, context = jsonb_build_object(%(bad)s::text, %(bad)s::text),"
        " deadline_at = 'infinity'",
        {"bad": "<script>window.pwned = 1</script>" + poison.STRANGE},
    )
    db.execute("update qwf.jobs set last_error = %s, status = 'failed'", (poison.STRANGE,))
    viewer = visit("viewer")
    paths = ["/runs", "/runs/change?verb=retry&workflow=photos"]
    paths += [f"/runs/{run}?show={tab}" for run in runs for tab in run_tabs.TABS]
    for path in paths:
        text = viewer.text(path)
        assert "<script>window" not in text, path
        assert not set(text) & (set(poison.CONTROLS + poison.UNSEEN) - set("\n\t\r")), path
    for run in runs:
        json.dumps(viewer.get(f"/runs/{run}/states").json())
        assert viewer.get(f"/runs/{run}/structure").status_code == 200

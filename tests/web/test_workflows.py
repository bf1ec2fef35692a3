"""The pages of workflows: the list, one workflow, its start, and the preview of definitions."""

from __future__ import annotations

import asyncio
import html
import json
import re
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent.web.forms import pasted
from qwf_agent.web.forms.fields import Field, from_schema
from qwf_agent.web.forms.wording import FALLBACK
from qwf_agent.web.pages import start
from qwf_agent.web.pages.preview import PATH
from qwf_agent.web.reads import stored_graphs
from qwf_agent.web.reads.database import Database
from support import poison
from support.visitors import FORM, Visit, Visitor

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Db = psycopg.Connection[Any]

PIPELINE = {
    "name": "shrink",
    "inputs": {
        "type": "object",
        "required": ["image"],
        "properties": {"image": {"type": "string"}, "size": {"type": "integer", "minimum": 1}},
    },
    "nodes": [
        {"id": "load", "inputs": {"src": {"$from": "pipeline.image"}}},
        {"id": "save", "depends_on": ["load"], "queue": "default", "on_failure": "ask"},
    ],
}
WORKFLOW = {
    "name": "photos",
    "display_name": "make photos small",
    "steps": [
        {
            "id": "small",
            "kind": "pipeline",
            "pipeline": "shrink",
            "inputs": {
                "image": {"$from": "photo.path"},
                "size": {"$from": "size", "$default": 100},
            },
        },
        {"id": "ok", "kind": "input", "widget": "confirm", "depends_on": ["small"]},
    ],
}
STORED: LiteralString = """
select (select jsonb_agg(to_jsonb(w) order by w.id) from qwf.workflows w),
  (select jsonb_agg(to_jsonb(p) order by p.id) from qwf.pipelines p),
  (select count(*) from qwf.graphs), (select count(*) from qwf.graph_nodes),
  (select count(*) from qwf.runs)
"""


def row(db: Db, query: LiteralString, *parameters: Any) -> tuple[Any, ...]:
    """The row that a query returns."""
    (found,) = db.execute(query, parameters).fetchall()
    return tuple(found)


@pytest.fixture
def known(db: Db) -> Db:
    """A database with the workflow `photos` and its pipeline."""
    db.execute("select qwf.register_pipeline(%s)", [Jsonb(PIPELINE)])
    db.execute("select qwf.register_workflow(%s)", [Jsonb(WORKFLOW)])
    return db


def send(visitor: Visitor, path: str, **fields: str) -> httpx.Response:
    """Send a form to the page that shows it."""
    (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', visitor.text(path)))
    data = {"csrf": csrf, **fields}
    return visitor.client.post(path, data=data, headers=FORM, follow_redirects=False)


def said(answer: httpx.Response) -> str:
    """The text of a page without its tags."""
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", " ", answer.text)))


def look_at(visitor: Visitor, *definitions: Any) -> httpx.Response:
    """Preview definitions."""
    return send(visitor, PATH, text="\n---\n".join(map(json.dumps, definitions)))


def register(visitor: Visitor, seen: httpx.Response, name: str, **changed: str) -> httpx.Response:
    """Press the button that registers a definition which was previewed."""
    form = seen.text.partition('id="preview"')[2]
    (digest,) = re.findall(r'name="seen" value="(\w*)"', form)
    text = html.unescape(re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.S)[0])
    return send(visitor, PATH, **{"seen": digest, "text": text, "register": name, **changed})


# Lists and one workflow ---------------------------------------------------------------------------


def test_an_empty_database_says_what_registers_a_workflow(visit: Visit) -> None:
    assert "qwf apply FOLDER" in visit("viewer").text("/workflows")


def test_the_list_has_versions_sizes_and_runs(visit: Visit, known: Db) -> None:
    (run,) = row(known, 'select qwf.enqueue_run(\'photos\', \'{"photo": {"path": "a"}}\')')
    page = said(visit("viewer").get("/workflows"))
    for shown in ("make photos small", f"run {run}", "1 open", "Pipelines", "shrink"):
        assert shown in page
    assert "1 1 open" not in page
    known.execute("update qwf.runs set status = 'completed', finished_at = now()")
    known.execute('select qwf.enqueue_run(\'photos\', \'{"photo": {"path": "a"}}\')')
    assert " 2, 1 open " in said(visit("viewer").get("/workflows"))
    assert "/photos/start" not in visit("viewer").text("/workflows")
    assert "/workflows/photos/start" in visit("operator").text("/workflows")


def test_a_workflow_shows_its_nodes_inputs_and_runs(visit: Visit, known: Db) -> None:
    (run,) = row(known, 'select qwf.enqueue_run(\'photos\', \'{"photo": {"path": "a"}}\')')
    page = said(visit("viewer").get("/workflows/photos"))
    for shown in ("pipeline shrink@1", "asks if it fails", "photo.path string needed",
                  "size integer optional left out: 100", f"run {run}"):  # fmt: skip
        assert shown in page, shown
    graph = visit("viewer").get("/workflow-graph/photos").json()
    assert [box["label"] for box in graph["boxes"]] == ["load", "save", "ok"]


def test_a_stored_graph_is_not_compiled_again(visit: Visit, known: Db) -> None:
    page = visit("viewer").text("/workflows/photos")
    assert "qwf.workflow_graph(graph_id" in page
    assert "qwf.workflow_graph(d.definition" not in page
    more = {**PIPELINE, "nodes": [*PIPELINE["nodes"], {"id": "tidy"}]}
    known.execute("select qwf.register_pipeline(%s)", [Jsonb(more)])
    page = visit("viewer").text("/workflows/photos")
    assert "tidy" in page
    assert "qwf.workflow_graph(d.definition" not in page
    other = {"required": ["zoom"], "properties": {"zoom": {"type": "integer"}}}
    known.execute(
        "select qwf.register_pipeline(%s)",
        [Jsonb({**PIPELINE, "inputs": other, "nodes": [{"id": "a"}]})],
    )
    page = visit("viewer").text("/workflows/photos")
    assert "A new run would be refused" in page
    assert "qwf.workflow_graph(d.definition" in page


def test_a_graph_is_read_once_for_all(visit: Visit, known: Db) -> None:
    pages = ("/workflows/photos", "/workflow-graph/photos", "/workflows/photos/start")
    viewer = visit("viewer")
    assert ["shrink@1" in viewer.text(path) for path in pages] == [True, False, False]
    known.execute("alter function qwf.workflow_graph rename to gone")
    try:
        viewer.do("pause_queue", name="default")  # after any action all else is read again
        for path in pages:
            assert viewer.get(path).status_code == 200, path
        assert visit("viewer").get("/workflows/photos").status_code == 503
    finally:
        known.execute("alter function qwf.gone rename to workflow_graph")


def test_few_graphs_are_kept(visit: Visit, known: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_graphs, "MOST_KEPT", 10)
    known.execute("select qwf.register_workflow(%s)", [Jsonb({**WORKFLOW, "name": "other"})])
    viewer = visit("viewer")
    for name in ("other", "photos", "other", "photos"):
        viewer.text(f"/workflows/{name}")
    known.execute("alter function qwf.workflow_graph rename to gone")
    try:
        viewer.do("pause_queue", name="default")  # after any action all else is read again
        assert viewer.get("/workflows/photos").status_code == 200
        assert viewer.get("/workflows/other").status_code == 503
    finally:
        known.execute("alter function qwf.gone rename to workflow_graph")


def test_a_graph_of_a_database_that_was_made_again_is_another(visit: Visit, known: Db) -> None:
    viewer = visit("viewer")
    assert "trim" not in viewer.text("/workflows/photos")
    known.execute("update qwf.graphs set created_at = created_at - interval '1 s'")
    known.execute("update qwf.graph_nodes set task = 'trim' where node_id = 'small/load'")
    viewer.do("pause_queue", name="default")  # after any action all else is read again
    assert "trim" in viewer.text("/workflows/photos")


def test_two_versions_are_compared(visit: Visit, known: Db) -> None:
    newer = {**WORKFLOW, "deadline": "1 h", "display_name": "other"}
    known.execute("select qwf.register_workflow(%s)", [Jsonb(newer)])
    page = said(visit("viewer").get("/workflows/photos?version=2&against=1"))
    assert '+ "deadline": "1 h"' in page
    assert '- "display_name": "make photos small"' in page
    assert "version 2 is" in said(visit("viewer").get("/workflows/photos?version=1"))


def test_a_workflow_whose_pipeline_has_changed_says_that_it_would_be_refused(
    visit: Visit, known: Db
) -> None:
    narrow = {**PIPELINE, "inputs": {"type": "object", "properties": {"other": {}}}}
    narrow["nodes"] = [{"id": "load"}]
    known.execute("select qwf.register_pipeline(%s)", [Jsonb(narrow)])
    page = said(visit("viewer").get("/workflows/photos"))
    assert "A new run would be refused" in page
    assert "steps[0].inputs.image" in page


@pytest.mark.parametrize(
    "path",
    ["gone", "gone/start", "../workflow-graph/gone", "photos?version=9", "photos?version=x",
     "photos?version=²", "photos?version=99999999999999999999999", "photos?against=7",
     "-/preview?workflow=x", "../preview-graph/x"],
)  # fmt: skip
def test_what_is_not_there_is_said(visit: Visit, known: Db, path: str) -> None:
    assert visit("viewer").get(f"/workflows/{path}").status_code == 404


def test_strange_values_are_shown(visit: Visit, db: Db) -> None:
    poison.fill(db)
    db.execute(
        "update qwf.workflows set definition = definition || jsonb_build_object("
        "'display_name', %s::text, 'mode', %s::jsonb)",
        (poison.STRANGE, poison.JSON["deep lists"]),
    )
    visitor = visit("operator")
    for path in ("/workflows", "/workflows/w", "/workflows/w/start", f"{PATH}?workflow=w"):
        page = visitor.text(path)
        assert "\u202e" not in page
        assert "\x1b" not in page


# Start --------------------------------------------------------------------------------------------


def test_a_run_is_started_from_the_form(visit: Visit, known: Db) -> None:
    operator = visit("operator")
    assert 'name="context/photo/path"' in operator.text("/workflows/photos/start")
    answer = send(
        operator, "/workflows/photos/start",
        **{"context/photo/path": "/a.jpg", "context/size": "7", "priority": "5", "key": "k",
           "labels": "owner=ada\nrun=1", "run_at": "2099-01-01T08:00"},
    )  # fmt: skip
    found = row(known, "select id, context, priority, key, labels, run_at::text from qwf.runs")
    assert answer.headers["location"] == f"/runs/{found[0]}"
    assert found[1] == {"photo": {"path": "/a.jpg"}, "size": 7}
    assert found[2:5] == (5, "k", {"owner": "ada", "run": "1"})
    assert found[5].startswith("2099-01-01 08:00")
    assert f"run {found[0]}</a> is started" in operator.text("/workflows")


def test_an_older_version_is_started_as_that(visit: Visit, known: Db) -> None:
    known.execute("select qwf.register_workflow(%s)", [Jsonb({**WORKFLOW, "deadline": "1 h"})])
    fields = {"context/photo/path": "a"}
    send(visit("operator"), "/workflows/photos/start?version=1", **fields)
    assert row(known, "select workflow_version from qwf.runs") == (1,)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "is missing"),
        ({"context/photo/path": "a", "context/size": "0"}, "must be at least 1"),
        ({"context/photo/path": "a", "run_at": "soon"}, "soon is no time"),
        ({"context/photo/path": "a", "priority": "many"}, "invalid input syntax"),
        ({"context/photo/path": "a", "out_dir": "/a/../b"}, "out_dir"),
        ({"context/photo/path": "a", "context/gone": "1"}, "has changed since it was opened"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_entered_stays(
    visit: Visit, known: Db, fields: dict[str, str], problem: str
) -> None:
    page = send(visit("operator"), "/workflows/photos/start", **{"key": "mine", **fields}).text
    assert problem in html.unescape(page)
    assert 'value="mine"' in page
    assert row(known, "select count(*) from qwf.runs") == (0,)


def test_a_context_may_be_written_as_json(visit: Visit, known: Db) -> None:
    path = "/workflows/photos/start?form=json"
    assert "&#34;photo&#34;" in visit("operator").text(path)
    refused = send(visit("operator"), path, context="[1]").text
    assert "must be a JSON object" in refused
    send(visit("operator"), path, context='{"photo": {"path": "a"}, "more": 9007199254740993}')
    assert row(known, "select context ->> 'more' from qwf.runs") == ("9007199254740993",)


def test_who_may_not_start_runs_is_refused(visit: Visit, known: Db) -> None:
    viewer = visit("viewer")
    assert ">Start</button>" not in viewer.text("/workflows/photos/start")
    answer = send(viewer, "/workflows/photos/start", **{"context/photo/path": "a"})
    assert "permission denied" in answer.text
    outside = viewer.client.post("/workflows/photos/start", data={"csrf": "x"}, headers=FORM)
    assert outside.status_code == 403
    assert row(known, "select count(*) from qwf.runs") == (0,)


def fields_of(schema: dict[str, Any]) -> dict[str, Field]:
    """The fields of a form by their paths, those of groups included."""
    found, left = {}, [from_schema(schema, label="Context")]
    while left:
        one = left.pop()
        found[one.path.removeprefix("context.")] = one
        left += one.fields
    return found


def test_a_form_has_a_field_for_each_path_that_is_read() -> None:
    text = {"type": "string"}
    inputs = [
        {"path": ["all"], "required": False},
        {"path": ["all", "x"], "required": True, "schema": text},
        {"path": ["deep", "a", "b"], "required": True, "schema": text},
        {"path": ["deep", "c"], "required": False, "default": 3, "schema": {"default": 9}},
        {"path": ["list", "0", "x"], "required": True},
    ]
    assert start.schema_of(inputs) == {
        "type": "object",
        "required": ["all", "deep", "list"],
        "properties": {
            "all": {FALLBACK: None},
            "deep": {
                "type": "object",
                "required": ["a"],
                "properties": {
                    "a": {"type": "object", "required": ["b"], "properties": {"b": text}},
                    "c": {FALLBACK: 3},
                },
            },
            "list": {},
        },
    }
    fields = fields_of(start.schema_of(inputs))
    assert (fields["all"].help, fields["deep.c"].help) == (
        "JSON; a text is in quotes. Default: null.",
        "JSON; a text is in quotes. Default: 3.",
    )  # fmt: skip
    number = {"path": ["size"], "required": False, "default": 200, "schema": {"type": "number"}}
    assert fields_of(start.schema_of([number]))["size"].placeholder == "200 (default)"
    assert start.example(inputs) == {
        "all": {"x": ""}, "deep": {"a": {"b": ""}}, "list": {"0": {"x": None}}
    }  # fmt: skip


# Preview ------------------------------------------------------------------------------------------


def test_a_preview_stores_nothing(visit: Visit, known: Db) -> None:
    before = row(known, STORED)
    new = {"name": "brand_new", "steps": [{"id": "a", "kind": "input", "widget": "text"}]}
    page = said(look_at(visit("admin"), {**PIPELINE, "mode": "x"}, WORKFLOW, new, {"nodes": 7}))
    assert "new" in page
    assert row(known, STORED) == before


def test_what_a_page_reads_cannot_write(dsn: str, known: Db) -> None:
    async def read() -> None:
        database = Database(dsn)
        try:
            await database.rows('select qwf.register_workflow(\'{"name":"x","steps":[]}\')', {})
        finally:
            await database.close()

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        asyncio.run(read())


def test_each_problem_is_at_its_path_and_line(visit: Visit, db: Db) -> None:
    text = '{"name": "w",\n "steps": [\n  {"id": "a", "kind": "input",\n   "widgett": "text"}]}\n'
    text += "---\nname: p\nnodes:\n  - id: a\n    depends_on: [b]\n"
    page = said(send(visit("viewer"), PATH, text=text))
    assert "3 problems in 2 definitions" in page
    assert 'steps[0].widgett unknown key → did you mean widget? 4 "widgett": "text"}]}' in page
    assert "steps[0].widget is missing" in page
    assert 'nodes[0].depends_on[0] there is no "b"' in page
    assert "9 depends_on: [b]" in page


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "There is nothing to preview"),
        ('{"steps": [,]}', "it is not JSON"),
        ("steps: [\n", "line 2"),
        ("[" * 2000, "nested too deep"),
        ("hello", "neither a pipeline"),
        ('{"steps": []} {"steps": [], "nodes": []}', "neither a pipeline"),
        ('{"name": "a", "steps": []}' * 2, "workflow a is there twice"),
        ('{"steps": [], "a": "\u200b"}', "write '\\u200b' as an escape"),
        ('{"steps": [], "a": "\x00"}', "nobody can see it"),
        ('{"steps": [], "a": "%s"}' % ("x" * 1_500_000), "at most 1,000,000"),
        ('{"steps": []}' * 30, "more than 20 definitions"),
        ('{"steps": [], "name": 7}', "must be of type string"),
        ('{"nodes": []}', "name"),
    ],
)
def test_bad_text_is_explained(visit: Visit, db: Db, text: str, problem: str) -> None:
    answer = send(visit("admin"), PATH, text=text)
    assert answer.status_code == 200
    assert problem in said(answer)
    assert "</summary> <div" not in answer.text.replace("Register…", "")


def test_a_graph_of_a_preview_is_drawn(visit: Visit, db: Db) -> None:
    viewer = visit("viewer")
    page = look_at(viewer, PIPELINE, WORKFLOW).text
    addresses = re.findall(r'data-structure="([^"]+)"', page)
    labels = [
        [box["label"] for box in viewer.get(address).json()["boxes"]] for address in addresses
    ]
    assert labels == [["load", "save"], ["load", "save", "ok"]]


def test_definitions_are_registered_one_by_one_pipelines_first(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    seen = look_at(admin, WORKFLOW, PIPELINE)
    assert "after shrink" in said(seen)
    assert "Not registered" in register(admin, seen, "workflow photos").text
    seen = register(admin, seen, "pipeline shrink")
    assert "the pipeline is version 1" in seen.text
    assert "unchanged version 1 is the same" in said(seen)
    register(admin, seen, "workflow photos")
    assert row(db, "select definition from qwf.workflows") == (WORKFLOW,)
    assert row(db, "select definition from qwf.pipelines") == (PIPELINE,)


def test_only_what_was_looked_at_is_registered(visit: Visit, known: Db) -> None:
    admin = visit("admin")
    seen = look_at(admin, {**WORKFLOW, "deadline": "1 h"})
    changed = json.dumps({**WORKFLOW, "deadline": "9 h"})
    assert "Look at it again" in register(admin, seen, "workflow photos", text=changed).text
    known.execute("select qwf.register_workflow(%s)", [Jsonb({**WORKFLOW, "deadline": "2 h"})])
    assert "Look at it again" in register(admin, seen, "workflow photos").text
    assert row(known, "select count(*) from qwf.workflows") == (2,)
    seen = look_at(admin, {**WORKFLOW, "deadline": "1 h"})
    assert '- "deadline": "2 h"' in said(seen)
    assert "the workflow is version 3" in register(admin, seen, "workflow photos").text


@pytest.mark.parametrize("level", ["viewer", "operator"])
def test_only_admins_register(visit: Visit, known: Db, level: str) -> None:
    visitor, before = visit(level), row(known, STORED)
    seen = look_at(visitor, {**WORKFLOW, "deadline": "1 h"})
    assert "Register…" not in seen.text
    assert "permission denied" in register(visitor, seen, "workflow photos").text
    assert row(known, STORED) == before


def test_a_pipeline_that_breaks_workflows_names_them(visit: Visit, known: Db) -> None:
    page = said(look_at(visit("admin"), {**PIPELINE, "inputs": {
        "type": "object", "required": ["image", "zoom"],
        "properties": {"image": {}, "size": {}, "zoom": {"type": "integer"}}}}))  # fmt: skip
    assert "Workflows that do not fit these pipelines" in page
    assert "photos steps[0].inputs" in page


def test_the_text_of_a_registered_definition_is_exact(visit: Visit, known: Db) -> None:
    exact = '{"name": "e", "steps": [], "mode": "0.10"}'
    known.execute("select qwf.register_workflow(%s::text::jsonb)", [exact])
    page = visit("admin").get(f"{PATH}?workflow=e").text
    text = html.unescape(re.findall(r'id="text"[^>]*>\n(.*?)</textarea>', page, re.S)[0])
    assert "unchanged" in said(send(visit("admin"), PATH, text=text))


def test_an_older_version_of_a_pipeline_is_shown(visit: Visit, known: Db) -> None:
    changed = {**PIPELINE, "display_name": "the newer one"}
    known.execute("select qwf.register_pipeline(%s)", [Jsonb(changed)])
    viewer = visit("viewer")
    assert "the newer one" in viewer.text(f"{PATH}?pipeline=shrink")
    assert "the newer one" not in viewer.text(f"{PATH}?pipeline=shrink&version=1")
    assert viewer.get(f"{PATH}?pipeline=shrink&version=3").status_code == 404


def test_many_definitions_are_read_in_one_pass() -> None:
    """A text of 70,000 definitions is refused after 21 of them."""
    found, problems = pasted.read('{"nodes": []}' * 70_000)
    assert (found, problems) == ([], ["it holds more than 20 definitions"])


def test_the_page_shows_how_long_runs_and_nodes_usually_take(visit: Visit, db: Db) -> None:
    """The strip has a bar for each of the last runs, the nodes have their times, also sorted."""
    db.execute(
        'select qwf.register_workflow(\'{"name": "nightly", "steps": [{"id": "a", "node": "a"},'
        ' {"id": "b", "node": "b"}]}\')'
    )
    for kind, node, keep in (("run", "", 61), ("node", "a", 30), ("node", "b", 30)):
        last = [
            {"run": n, "status": "failed" if n % 4 == 0 else "completed", "seconds": n, "at": None}
            for n in range(keep, 0, -1)
        ]
        db.execute(
            "insert into qwf.usual_times (kind, name, node, since, runs, p50, p90, p95, last,"
            " last_status, last_at, last_success) values (%s, 'nightly', %s, now(), 50, %s, 50, 55,"
            " %s, 'completed', now(), now())",
            (kind, node, 37 if node != "b" else 1, Jsonb(last)),
        )
    client = visit("viewer").client
    text = client.get("/workflows/nightly").text
    strip = text.partition('<svg class="last-runs"')[2].partition("</svg>")[0]
    assert strip.count("<rect") == 60
    assert 'href="/runs/61"><title>run 61, completed, 1 min 01 s, usual 37 s</title>' in strip
    assert "ok 74 % of 50" in text
    assert "usually 37 s (p90 50 s)" in text
    table = text.partition('id="nodes-over-time"')[2].partition("</section>")[0]
    assert table.index("node-time-a") < table.index("node-time-b")
    assert table.count("<rect") == 60
    table = client.get("/workflows/nightly?by=usual").text.partition('id="nodes-over-time"')[2]
    assert table.index("node-time-a") < table.index("node-time-b")
    row = client.get("/workflows").text.partition('id="workflow-nightly"')[2].partition("</tr>")[0]
    assert row.count("<rect") == 20
    assert "37 s" in row
    db.execute("select qwf.enqueue_run('nightly')")
    row = client.get("/workflows").text.partition('id="workflow-nightly"')[2].partition("</tr>")[0]
    assert '>run 61</a> <span class="state state-completed' in row, "the last that has ended"


def test_a_workflow_of_2_000_nodes_with_a_history_has_a_page_of_less_than_200_kb(
    visit: Visit, db: Db
) -> None:
    names = [f"node_number_{n:04}" for n in range(2000)]
    steps = [{"id": name, "node": "resize_a_picture", "depends_on": names[max(0, n - 1) : n]}
             for n, name in enumerate(names)]  # fmt: skip
    definition = Jsonb({"name": "wide", "steps": steps})
    db.execute("select qwf.register_workflow(%s)", (definition,))
    last = [{"run": n, "status": "completed", "seconds": n, "at": None} for n in range(60, 0, -1)]
    db.execute(
        "insert into qwf.usual_times (kind, name, node, since, runs, p50, p90, p95, last,"
        " last_status, last_at, last_success) select case node when '' then 'run' else 'node' end,"
        " 'wide', node, now(), 50, 37, 50, 55, %s, 'completed', now(), now()"
        " from unnest(%s::text[]) node",
        (Jsonb(last), ["", *names]),
    )
    client = visit("viewer").client
    answer = client.get("/workflows/wide")
    assert len(answer.content) < 200_000
    text = answer.text
    assert "Nodes 1 to 20 of the first 300 by name; the others are not compared." in text
    assert "from=20#nodes-over-time" in text
    assert "The first 200 of 2,000 nodes." in text
    assert "and version = 1</code>" in text
    later = client.get("/workflows/wide?from=20&by=usual").text
    assert "Nodes 21 to 40 of the first 300 by name" in later
    assert later.count('data-row id="node-time-') == 20
    for strange in ("x", "999999"):
        assert "Nodes 1 to 20 of" in client.get(f"/workflows/wide?from={strange}").text

"""`qwf apply`: registers definitions from files, all or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.cli import definition_files
from support.welcome import PIPELINE, WORKFLOW, Cli

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


def registered(db: psycopg.Connection[Any]) -> list[tuple[str, int]]:
    return db.execute(
        "select name, version from qwf.pipelines where current"
        " union all select name, version from qwf.workflows where current order by 1"
    ).fetchall()


def test_prints_what_is_new_then_what_is_unchanged(on_db: Cli, folder: Path) -> None:
    first = on_db("apply", folder, "--json")
    again = on_db("apply", folder, "--json")
    assert [
        (r["kind"], r["name"], r["version"], r["change"]) for r in json.loads(first.stdout)
    ] == [
        ("pipeline", "greet", 1, "new"),
        ("workflow", "welcome", 1, "new"),
    ]
    assert {r["change"] for r in json.loads(again.stdout)} == {"unchanged"}
    assert "welcome" in on_db("apply", folder).stdout


def test_a_changed_definition_is_a_new_version_and_the_old_one_can_be_restored(
    applied: Cli, folder: Path
) -> None:
    changed = {**PIPELINE, "display_name": "greeting"}
    (folder / "greet.json").write_text(json.dumps(changed))
    assert json.loads(applied("apply", folder, "--json").stdout)[0]["version"] == 2
    (folder / "greet.json").write_text(json.dumps(PIPELINE))
    back = json.loads(applied("apply", folder, "--json").stdout)[0]
    assert (back["version"], back["change"]) == (1, "restored")


def test_reads_yaml_and_subfolders(on_db: Cli, tmp_path: Path, db: psycopg.Connection[Any]) -> None:
    place = tmp_path / "deep" / "below"
    place.mkdir(parents=True)
    (place / "b.yaml").write_text("name: one\nnodes:\n- id: a\n  node: a\n")
    (place / "a.yml").write_text("name: flow\nsteps:\n- {id: s, kind: pipeline, pipeline: one}\n")
    result = on_db("apply", tmp_path / "deep")
    assert result.exit_code == 0, result.output
    assert registered(db) == [("flow", 1), ("one", 1)]


def test_reads_anchors_and_merged_keys_of_yaml(
    on_db: Cli, tmp_path: Path, db: psycopg.Connection[Any]
) -> None:
    (tmp_path / "p.yaml").write_text(
        "name: p\nnodes:\n"
        "- &base {id: a, timeout: 90.5, inputs: {x: true, y: ~, z: '2026-01-01'}}\n"
        "- {<<: *base, id: b}\n"
    )
    result = on_db("apply", tmp_path)
    assert result.exit_code == 0, result.output
    nodes = db.execute("select definition -> 'nodes' from qwf.pipelines").fetchall()[0][0]
    inputs = {"x": True, "y": None, "z": "2026-01-01"}
    assert nodes == [{"id": i, "timeout": 90.5, "inputs": inputs} for i in ("a", "b")]


def test_registers_nothing_when_one_file_is_wrong(
    on_db: Cli, folder: Path, db: psycopg.Connection[Any]
) -> None:
    (folder / "cycle.json").write_text(
        json.dumps(
            {
                "name": "cycle",
                "nodes": [
                    {"id": "a", "node": "a", "depends_on": ["b"]},
                    {"id": "b", "node": "b", "depends_on": ["a"]},
                ],
            }
        )
    )
    (folder / "typo.json").write_text(
        json.dumps({"name": "typo", "nodes": [{"id": "a", "node": "a", "depnds_on": []}]})
    )
    result = on_db("apply", folder)
    assert result.exit_code == 1
    assert "cycle.json" in result.stderr
    assert "typo.json" in result.stderr
    assert "depnds_on" in result.stderr
    cycle, typo = folder / "cycle.json", folder / "typo.json"
    lines = [line.strip() for line in result.stderr.splitlines()]
    assert lines[0] == "error: 2 problems, nothing registered"
    assert lines[1].startswith(f"{cycle}: ")
    assert lines[2] == "hint: remove one of these dependencies", "beside its problem"
    assert lines[3].startswith(f"{typo}: ")
    assert lines[4] == "hint: did you mean depends_on?"
    assert registered(db) == []


def test_a_refused_folder_gives_no_notes_about_what_was_rolled_back(
    on_db: Cli, folder: Path
) -> None:
    step = {"id": "s", "kind": "input", "widget": "confrim", "target": "s"}
    (folder / "ask.json").write_text(json.dumps({"name": "ask", "steps": [step]}))
    assert "note: step s has the unknown widget confrim" in on_db("apply", folder).stderr
    (folder / "wrong.json").write_text(json.dumps({"name": "wrong", "steps": 7}))
    result = on_db("apply", folder)
    assert result.exit_code == 1
    assert "note:" not in result.stderr


DECLARED = (
    '{"tasks": ["think"], "task_options": {"think": {"max_attempts": "5", "max_losses": "1"}}}'
)


def test_notes_a_node_without_an_option_that_its_task_declares(
    on_db: Cli, folder: Path, db: psycopg.Connection[Any]
) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu', %s)", (DECLARED,))
    result = on_db("apply", folder)
    assert result.exit_code == 0
    assert "note: node welcome greet/think: task 'think' declares max_attempts 5" in result.stderr
    assert "give retry: {max_attempts: 5} in the node" in result.stderr
    assert "give retry: {max_losses: 1} in the node" in result.stderr
    text = (folder / "greet.json").read_text()
    retry = '"retry": {"max_attempts": 2, "max_losses": 2}'
    given = text.replace('"id": "think"', f'"id": "think", {retry}')
    (folder / "greet.json").write_text(given)
    result = on_db("apply", folder)
    assert result.exit_code == 0
    assert "declares" not in result.stderr


def test_a_workflow_is_not_blamed_for_its_broken_pipeline(on_db: Cli, folder: Path) -> None:
    (folder / "greet.json").write_text(json.dumps({**PIPELINE, "nonsense": 1}))
    result = on_db("apply", folder)
    assert result.exit_code == 1
    assert "greet.json" in result.stderr
    assert "welcome.json" not in result.stderr


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("broken.json", "{", "broken.json"),
        ("twice.json", '{"name": "a", "name": "b", "nodes": []}', "stands twice in"),
        ("nan.json", '{"name": "a", "nodes": [NaN]}', "NaN"),
        ("broken.yaml", "a: [", "broken.yaml"),
        ("deep.json", '{"nodes": ' + "[" * 5000 + "]" * 5000 + "}", "nested too deeply"),
        ("huge.json", '{"name": "a", "nodes": [1e400]}', "1e400 is too large"),
        ("date.yaml", "name: a\nnodes:\n- {id: 2026-01-01}", "line 3, nodes[0].id: 2026-01-01"),
        ("twice.yaml", "name: a\nnodes: []\nname: b", "line 3, name: the key stands twice"),
        ("below.yaml", "nodes:\n- {id: a, inputs: {x: 1,\n  x: 2}}", "line 3, nodes[0].inputs.x: "),
        ("deep.yaml", "nodes: " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("bomb.yaml", BOMB, "its aliases expand to"),
        ("long.yaml", f"a: &a {'x' * 50_000}\nnodes: [{'*a, ' * 5_000}]", "aliases expand to"),
        ("keys.yaml", f"a: &a {'x' * 60_000}\nnodes: [{'{*a : 1},' * 999}]", "aliases expand to"),
        ("ring.yaml", "nodes: &a [*a]", "line 1, nodes[0]: it contains itself"),
        ("key.yaml", "nodes: []\n5: x", "line 2: a key must be a text"),
        ("on.yaml", "nodes: []\non: x", "line 2: a key must be a text"),
        ("minute.yaml", "nodes:\n- {id: a, timeout: 1:30}", "1:30 is not a number of JSON"),
        ("octal.yaml", "nodes: [010]", "010 is not a number of JSON"),
        ("infinite.yaml", "nodes: [.inf]", ".inf is not a number of JSON"),
        ("large.yaml", "nodes: [1.0e+400]", "is not a number of JSON"),
        ("norway.yaml", "nodes: [no]", "no would be read as true or false"),
        ("bytes.yaml", "nodes: !!binary abcd", "line 1, nodes: abcd would be read as a binary"),
        ("set.yaml", "nodes: !!set {a, b}", "line 1, nodes: JSON has no set"),
        ("empty.yaml", "", "neither a pipeline"),
        ("list.json", "[]", "neither a pipeline"),
        ("both.json", '{"nodes": [], "steps": []}', "neither a pipeline"),
        ("latin.json", b'{"name": "caf\xe9"}', "latin.json"),
    ],
)
def test_names_the_file_that_is_not_a_definition(
    on_db: Cli,
    folder: Path,
    db: psycopg.Connection[Any],
    name: str,
    text: str | bytes,
    says: str,
) -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    result = on_db("apply", folder)
    assert result.exit_code == 1
    assert says in result.stderr
    assert registered(db) == []


def test_refuses_a_folder_without_definitions(on_db: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = on_db("apply", tmp_path / "empty")
    assert result.exit_code == 1
    assert "no .json" in result.stderr


def test_an_object_of_many_keys_is_read_in_a_moment(on_db: Cli, folder: Path) -> None:
    keys = ", ".join(f'"k{n}": 1' for n in range(100_000))  # comparing each two would take long
    (folder / "many.json").write_text(f'{{"name": "many", "nodes": [], "inputs": {{{keys}}}}}')
    assert on_db("apply", folder).exit_code == 1


def test_a_long_yaml_file_is_refused_before_it_is_read(on_db: Cli, folder: Path) -> None:
    args = "\n".join(f"  k{n}: 1" for n in range(100_000))
    (folder / "long.schedule.yaml").write_text(f"task: t\nevery: 1 h\nargs:\n{args}\n")
    assert "more than 1 MiB of YAML" in on_db("apply", folder).stderr


def test_refuses_the_same_name_twice(on_db: Cli, folder: Path) -> None:
    (folder / "other.json").write_text(json.dumps(WORKFLOW))
    result = on_db("apply", folder)
    assert result.exit_code == 1
    assert "welcome is also in" in result.stderr


def test_a_schema_beside_the_definitions_is_skipped_with_a_note(
    qwf: Cli, on_db: Cli, tmp_path: Path
) -> None:
    schema = tmp_path / "definition.schema.json"
    schema.write_text(qwf("schema").stdout, encoding="utf-8")
    (tmp_path / "p.json").write_text(json.dumps(PIPELINE), encoding="utf-8")
    applied = on_db("apply", tmp_path)
    assert applied.exit_code == 0
    assert f"note: {schema} was skipped: its name says that it is a JSON Schema" in applied.stderr
    assert on_db("apply", tmp_path / "p.json").stderr == ""


def test_a_file_with_nodes_is_a_pipeline_and_what_is_left_out_is_named(
    on_db: Cli, tmp_path: Path, db: psycopg.Connection[Any]
) -> None:
    """Other systems name pipelines as JSON Schemas are named."""
    folder, elsewhere = tmp_path / "a", tmp_path / "b"
    for one in (folder, folder / ".git", elsewhere):
        one.mkdir()
    (folder / "greet.schema.json").write_text(json.dumps(PIPELINE))
    (folder / "welcome.json").write_text(json.dumps(WORKFLOW))
    for other in (folder / ".old.json", folder / ".git" / "x.json", elsewhere / "x.json"):
        other.write_text(json.dumps(PIPELINE))
    (folder / "more").symlink_to(elsewhere)
    applied = on_db("apply", folder)
    assert (applied.exit_code, registered(db)) == (0, [("greet", 1), ("welcome", 1)])
    assert applied.stderr.splitlines()[:2] == [
        f"note: {folder / '.old.json'} was skipped: it is hidden",
        f"note: {folder / 'more'} was skipped: it is a link to a folder",
    ]


def test_it_waits_for_others_and_commits_nothing_if_nothing_changes(
    on_db: Cli, folder: Path, db: psycopg.Connection[Any], dsn: str
) -> None:
    """All replicas of a program may call it when they start."""
    rule = {"when": ["run_ended"], "do": {"task": "t", "queue": "default"}}
    (folder / "bad.alert.json").write_text(json.dumps(rule))
    (folder / "night.schedule.json").write_text('{"workflow": "welcome", "every": "1 h"}')
    (folder / "limits.json").write_text('{"limits": [{"name": "one", "max_running": 1}]}')
    with psycopg.connect(dsn) as other:
        other.execute("select from _qwf.locks where name = 'definitions' for update")
        command = subprocess.Popen(
            [sys.executable, "-c", "from qwf_agent.cli import main; main()", "apply", str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert command.stderr is not None
        said = command.stderr.readline()
        assert said == ("another session registers definitions, or has locked some: waiting up to"
                        " 60 s\n")  # fmt: skip
    out, err = command.communicate(timeout=60)
    assert command.returncode == 0, err
    assert out.count("new") == 5
    query = """select (select array_agg(a.changed_at) from qwf.alerts a),
        (select max(xmin::text::bigint) from qwf.limits), (select count(*) from qwf.audit)"""
    before = db.execute(query).fetchall()
    again = on_db("apply", folder)
    assert (again.exit_code, again.stdout.count("unchanged")) == (0, 5)
    assert db.execute(query).fetchall() == before


def test_a_name_that_postgres_cannot_store_is_no_lack_of_a_database(
    on_db: Cli, tmp_path: Path
) -> None:
    (tmp_path / "x.yaml").write_text('name: "a\\0b"\nsteps: []\n')
    result = on_db("apply", tmp_path / "x.yaml")
    assert result.exit_code == 1
    assert "has a NUL character, which Postgres cannot store" in result.stderr
    assert "no database" not in result.stderr


def test_refuses_a_pipe_and_a_file_that_no_definition_fills(on_db: Cli, tmp_path: Path) -> None:
    pipe, large = tmp_path / "p.json", tmp_path / "large.json"
    os.mkfifo(pipe)
    refused = on_db("apply", pipe)  # without a writer, opening it would wait for ever
    assert refused.exit_code == 1
    assert "it is no file: write the definition into one" in refused.stderr
    with large.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    refused = on_db("apply", large)
    assert refused.exit_code == 1
    assert "it has more than 64 MiB" in refused.stderr


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_refuses_a_nul_in_a_text_with_the_name_of_the_file(
    on_db: Cli, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text('{"name": "a\\u0000b", "nodes": []}')
    refused = on_db("apply", tmp_path)
    assert refused.exit_code == 1
    assert f"{name}: it has a NUL" in refused.stderr


LIMITS = """
limits:
  - {name: mail, max_running: 2, starts: 9, per: 1 min}
  - {name: customer, max_running: 3, keyed: true}
"""


def test_a_workflow_comes_after_what_the_nodes_of_its_pipelines_run(
    on_db: Cli, tmp_path: Path
) -> None:
    runs = {"name": "p", "nodes": [{"id": "n", "workflow": "z"}]}
    steps = [{"id": "s", "kind": "pipeline", "pipeline": "p"}]
    for one in (
        runs,
        {"name": "a", "steps": steps},
        {"name": "z", "steps": [{"id": "x", "node": "x"}]},
    ):
        (tmp_path / f"{one['name']}.json").write_text(json.dumps(one))
    applied = json.loads(on_db("apply", tmp_path, "--json").stdout)
    assert [one["name"] for one in applied] == ["p", "z", "a"]


def test_limits_come_before_the_pipelines_that_name_them(
    on_db: Cli, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    node = {"id": "n", "node": "t", "limit_by": "mail"}
    (tmp_path / "a.json").write_text(json.dumps({"name": "p", "nodes": [node]}))
    (tmp_path / "limits.yaml").write_text(LIMITS)
    said = lambda: [  # noqa: E731
        (one["kind"], one["name"], one["version"], one["change"])
        for one in json.loads(on_db("apply", tmp_path, "--json").stdout)
    ]
    assert said() == [
        ("limit", "mail", None, "new"), ("limit", "customer", None, "new"),
        ("pipeline", "p", 1, "new"),
    ]  # fmt: skip
    stored = "select name, max_running, starts, per::text, keyed from qwf.limits order by name"
    customer = ("customer", 3, None, None, True)
    assert db.execute(stored).fetchall() == [customer, ("mail", 2, 9, "00:01:00", False)]
    (tmp_path / "limits.yaml").write_text(LIMITS.replace("starts: 9, per: 1 min", "starts: 0"))
    assert [one[3] for one in said()] == ["changed", "unchanged", "unchanged"]
    assert db.execute(stored).fetchall() == [customer, ("mail", 2, None, None, False)]
    assert "mail" in on_db("apply", tmp_path).stdout


def test_one_wrong_limit_registers_nothing(
    on_db: Cli, db: psycopg.Connection[Any], folder: Path
) -> None:
    for limits, told in {
        "[{name: mail, max_running: 0}]": "limit mail: ",
        "[{name: mail, max_running: many}]": "limit mail: ",
        "[{name: mail, max_running: 2, per: soon}]": "limit mail: ",
        "[{name: a, max_running: 1}, {name: a}]": "limits[1]: limit a stands twice",
        "[{name: a, most: 1}]": "limits[0] has most; its keys are name, max_running",
        "[{max_running: 1}]": "limits[0].name: a text",
        "{a: 1}": "limits: a list of objects",
        "[]\nnodes: []": "a file with limits has nothing else: nodes",
    }.items():
        (folder / "limits.yaml").write_text(f"limits: {limits}\n")
        refused = on_db("apply", folder)
        assert refused.exit_code == 1, limits
        assert f"limits.yaml: {told}" in refused.stderr
        assert "this is a bug" not in refused.stderr
        assert registered(db) == []
        assert db.execute("select from qwf.limits").fetchall() == []


def test_schedules_come_after_the_workflows_that_they_start(
    on_db: Cli, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    step = {"id": "n", "node": "t"}
    (tmp_path / "w.json").write_text(json.dumps({"name": "w", "steps": [step]}))
    file = tmp_path / "a.schedule.json"
    said = lambda: [  # noqa: E731
        (one["kind"], one["name"], one["version"], one["change"])
        for one in json.loads(on_db("apply", tmp_path, "--json").stdout)
    ]
    nightly = {"workflow": "w", "cron": "30 3 * * *", "timezone": "Europe/Berlin"}
    file.write_text(json.dumps(nightly))
    assert said() == [("workflow", "w", 1, "new"), ("schedule", "a", None, "new")]
    assert said()[1][3] == "unchanged"
    file.write_text(json.dumps({"task": "t", "every": "5 min", "args": {"n": 1}}))
    assert said()[1][3] == "changed"
    stored = "select task, workflow, cron, every::text, args from qwf.schedules"
    assert db.execute(stored).fetchall() == [("t", None, None, "00:05:00", {"n": 1})]
    for wrong, told in (
        ({"workflow": "nobody", "every": "5 min"}, "schedule a: "),
        ({"task": "t"}, "schedule a: "),
        ({"task": "t", "every": "soon"}, "schedule a: "),
        ({"task": "t", "evry": "5 min"}, "it has evry; its keys are anchor, args"),
        ([], "schedule: an object"),
    ):
        file.write_text(json.dumps(wrong))
        refused = on_db("apply", tmp_path)
        assert (refused.exit_code, f"a.schedule.json: {told}" in refused.stderr) == (1, True)
        assert db.execute(stored).fetchall() == [("t", None, None, "00:05:00", {"n": 1})]
    file.unlink()
    (tmp_path / "a.schedule.yaml").write_text("{task: t, every: 9 min}")
    assert said()[1] == ("schedule", "a", None, "changed")


def test_a_file_may_give_each_argument_of_a_schedule(db: psycopg.Connection[Any]) -> None:
    query = "select unnest(proargnames) from pg_proc where oid = 'qwf.create_schedule'::regproc"
    arguments = {name for (name,) in db.execute(query)}
    assert arguments == definition_files.SCHEDULE_KEYS | {"name"}


def test_the_order_of_properties_goes_along(
    on_db: Cli, tmp_path: Path, db: psycopg.Connection[Any]
) -> None:
    """The database sorts the keys of an object; a form shows them as the file has them."""
    (tmp_path / "w.json").write_text(
        '{"name": "w", "steps": [], "inputs": {"type": "object", "properties":'
        ' {"street": {"type": "object", "properties": {"b": {}, "a": {}}}, "zip": {}, "note": {}}}}'
    )
    on_db("apply", str(tmp_path))
    ((order, inner),) = db.execute(
        "select definition #> '{inputs,properties_order}',"
        " definition #> '{inputs,properties,street,properties_order}' from qwf.workflows"
    ).fetchall()
    assert (order, inner) == (["street", "zip", "note"], ["b", "a"])
    assert "unchanged" in on_db("apply", str(tmp_path)).stdout

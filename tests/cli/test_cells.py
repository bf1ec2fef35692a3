"""Commands on several databases: lists show all cells, an id or a key leads to one."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent import cell_for, embedded, migrate
from qwf_agent.migrate import Cell
from support.servers import Server, own_server
from support.welcome import Cli

Db = psycopg.Connection[Any]
KEYS = {cell_for(key, 2): key for key in ("invoice 1", "invoice 2", "invoice 3", "invoice 4")}


class Cells(NamedTuple):
    """Cells 0 and 1 of 4, called north and south, and their addresses."""

    qwf: Cli
    north: Db
    south: Db
    addresses: dict[str, str]


def named(addresses: dict[str, str]) -> str:
    """The value of QWF_CELLS."""
    return " ".join(f"{name}={shlex.quote(dsn)}" for name, dsn in addresses.items())


@pytest.fixture
def cells(
    qwf: Cli, server: Server, template: str, monkeypatch: pytest.MonkeyPatch, wide: None
) -> Iterator[Cells]:
    with contextlib.ExitStack() as stack:
        found = []
        for number in (0, 1):
            janitor = stack.enter_context(server.database(server.new_name(), template))
            dsn = server.dsn(janitor.dbname)
            found.append(stack.enter_context(psycopg.connect(dsn, autocommit=True)))
            found[-1].execute(Cell(number, 4).script().read().encode())
        addresses = {
            name: server.dsn(db.info.dbname)
            for name, db in zip(("north", "south"), found, strict=True)
        }
        monkeypatch.setenv("QWF_CELLS", named(addresses))
        yield Cells(qwf, *found, addresses)


def tasks(db: Db) -> list[str]:
    return [row[0] for row in db.execute("select task from qwf.jobs order by id")]


def enqueued(db: Db, task: str) -> int:
    return int(db.execute("select qwf.enqueue(%s)", [task]).fetchall()[0][0])


def ask(db: Db) -> None:
    """Start a run that asks a question."""
    step = {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go?"}
    db.execute("select qwf.register_workflow(%s)", [Jsonb({"name": "w", "steps": [step]})])
    db.execute("select qwf.enqueue_run('w')")


def rows(result: Any, code: int = 0) -> list[dict[str, Any]]:
    assert result.exit_code == code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


# Lists --------------------------------------------------------------------------------------------


def test_a_list_has_the_rows_of_all_cells_in_one_order(cells: Cells) -> None:
    made = [
        (name, enqueued(db, f"t{n}"))
        for n, (name, db) in enumerate(
            [("north", cells.north), ("south", cells.south), ("north", cells.north)]
        )
    ]
    newest_first = made[::-1]
    found = rows(cells.qwf("jobs", "--json"))
    assert [(row["cell"], row["id"]) for row in found] == newest_first
    found = rows(cells.qwf("jobs", "--limit", 2, "--json"))
    assert [(row["cell"], row["id"]) for row in found] == newest_first[:2]
    head, *lines = cells.qwf("jobs").stdout.splitlines()
    assert head.split()[:2] == ["cell", "id"]
    assert [tuple(line.split()[:2]) for line in lines] == [
        (name, str(job)) for name, job in newest_first
    ]


def test_queues_workers_runs_and_questions_name_their_cell(cells: Cells) -> None:
    for db in (cells.north, cells.south):
        db.execute("select qwf.register_worker('box', 'cpu')")
        ask(db)
    both = ["north", "south"]
    for command in ("runs", "inputs", "workers"):
        assert sorted(row["cell"] for row in rows(cells.qwf(command, "--json"))) == both
    found = rows(cells.qwf("queues", "--json"))
    assert [row["cell"] for row in found if row["queue"] == "cpu"] == both
    printed = cells.qwf("inputs").stdout
    assert printed.index("cell north") < printed.index("run 4") < printed.index("cell south")


def test_a_queue_need_not_be_in_every_cell(cells: Cells) -> None:
    cells.north.execute("select qwf.create_queue('mail'), qwf.enqueue('t', queue => 'mail')")
    (found,) = rows(cells.qwf("jobs", "--queue", "mail", "--json"))
    assert found["cell"] == "north"
    result = cells.qwf("jobs", "--queue", "mial")
    assert (result.exit_code, "no queue 'mial'" in result.stderr) == (2, True)
    assert cells.qwf("jobs", "--task", "t").stderr == ""  # though south has never seen it


def test_dsn_or_cell_shows_one(cells: Cells) -> None:
    mine, other = enqueued(cells.north, "t"), enqueued(cells.south, "t")
    found = rows(cells.qwf("jobs", "--cell", "north", "--json"))
    assert [row["id"] for row in found] == [mine]
    assert "cell" not in found[0]
    found = rows(cells.qwf("jobs", "--dsn", cells.addresses["south"], "--json"))
    assert [row["id"] for row in found] == [other]
    both = cells.qwf("jobs", "--cell", "north", "--dsn", cells.addresses["south"])
    assert (both.exit_code, "exclude each other" in both.stderr) == (2, True)


def test_the_others_are_shown_if_one_cell_is_down(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = enqueued(cells.south, "t")
    gone = cells.addresses["north"].replace("_test", "_gone_test")  # a database that is not there
    monkeypatch.setenv("QWF_CELLS", named({**cells.addresses, "north": gone}))
    result = cells.qwf("jobs", "--json")
    assert [row["id"] for row in rows(result, 69)] == [job]
    (line,) = result.stderr.splitlines()
    assert line.startswith("missing: cell north: ")
    # what is about the other cell works; what is about this one says what is wrong
    assert cells.qwf("job", job).exit_code == 0
    result = cells.qwf("job", job + 3)
    assert result.exit_code == 69
    assert f"the cell of id {job + 3} does not answer" in result.stderr
    monkeypatch.setenv("QWF_CELLS", named({"north": gone}))
    assert cells.qwf("jobs").exit_code == 69


def test_a_cell_whose_server_crashes_is_back_after_its_restart(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = enqueued(cells.north, "t")
    with own_server(embedded.binaries()) as server:
        dsn = server.dsn(server.maintenance)
        migrate.deploy(dsn, verify=False, cell=Cell(2, 4))
        with psycopg.connect(dsn, autocommit=True) as west:
            far = enqueued(west, "t")
        monkeypatch.setenv("QWF_CELLS", named({"west": dsn, **cells.addresses}))
        server.stop_immediate()
        assert [row["id"] for row in rows(cells.qwf("jobs", "--json"), 69)] == [own]
        assert cells.qwf("job", own).exit_code == 0
        assert cells.qwf("job", far).exit_code == 69
        server.start()
        assert [row["id"] for row in rows(cells.qwf("jobs", "--json"))] == [far, own]
        assert cells.qwf("job", far).exit_code == 0


# One cell -----------------------------------------------------------------------------------------


def test_an_id_leads_to_its_cell(cells: Cells) -> None:
    one, other = enqueued(cells.north, "of-north"), enqueued(cells.south, "of-south")
    assert "of-north" in cells.qwf("job", one).stdout
    assert "of-south" in cells.qwf("job", other).stdout
    assert cells.qwf("cancel", "job", other).exit_code == 0
    states = [
        db.execute("select status from qwf.jobs").fetchall() for db in (cells.north, cells.south)
    ]
    assert states == [[("queued",)], [("cancelled",)]]
    result = cells.qwf("cancel", "job", one, other)
    assert (result.exit_code, "several cells" in result.stderr) == (2, True)
    result = cells.qwf("job", 7)  # cell 3 of 4, which nobody has
    assert result.exit_code == 1
    assert "the cell of id 7 is not among the cells north, south" in result.stderr


def test_an_answer_goes_to_the_cell_of_the_run(cells: Cells) -> None:
    for db in (cells.north, cells.south):
        ask(db)
    run = rows(cells.qwf("runs", "--cell", "south", "--json"))[0]["id"]
    result = cells.qwf("answer", run, "ask", "true")
    assert result.exit_code == 0, result.output
    assert cells.south.execute("select status from qwf.runs").fetchall() == [("completed",)]
    assert cells.north.execute("select status from qwf.runs").fetchall() == [("awaiting_input",)]


def test_something_new_goes_where_its_key_belongs(cells: Cells) -> None:
    for n, key in KEYS.items():
        for _ in range(2):  # the second time, the job is there already
            result = cells.qwf("enqueue", f"t{n}", "--key", key)
            assert result.exit_code == 0, result.output
    assert tasks(cells.north) == ["t0"]
    assert tasks(cells.south) == ["t1"]


def test_without_a_key_somebody_has_to_say_which_cell(cells: Cells) -> None:
    for words in (("enqueue", "t"), ("queue", "pause", "cpu")):
        result = cells.qwf(*words)
        assert result.exit_code == 2
        assert "--cell north|south" in result.stderr
    assert cells.qwf("enqueue", "t", "--cell", "south").exit_code == 0
    assert (tasks(cells.north), tasks(cells.south)) == ([], ["t"])
    result = cells.qwf("enqueue", "t", "--cell", "sooth")
    assert (result.exit_code, "did you mean south?" in result.stderr) == (2, True)


# Configuration ------------------------------------------------------------------------------------


def test_one_database_under_two_names_is_refused(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    north = cells.addresses["north"]
    monkeypatch.setenv("QWF_CELLS", named({"a": north, "b": north}))
    result = cells.qwf("jobs")
    assert result.exit_code == 78
    assert "cell b is cell 0 of 4, and so is a" in result.stderr


def test_a_database_without_a_cell_is_refused(
    cells: Cells, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QWF_CELLS", named({"a": cells.addresses["north"], "b": dsn}))
    result = cells.qwf("jobs")
    assert result.exit_code == 78
    assert "cell b is cell 0 of 1, but a is one of 4: deploy each with --cell" in result.stderr


def test_qwf_toml_may_name_the_cells(
    cells: Cells, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("QWF_CELLS")
    lines = [f'{name} = "{dsn}"' for name, dsn in cells.addresses.items()]
    (tmp_path / "qwf.toml").write_text("\n".join(["[cells]", *lines]))
    enqueued(cells.south, "t")
    assert [row["cell"] for row in rows(cells.qwf("jobs", "--json"))] == ["south"]
    monkeypatch.setenv("QWF_DSN", cells.addresses["north"])  # which is nearer
    assert rows(cells.qwf("jobs", "--json")) == []


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("a=postgresql://x/q a=postgresql://y/q", "stands twice"),
        ("postgresql://x/q", "write a name and an address"),
        ("a=", "write a name and an address"),
        ("a b", "write a name and an address"),
        ("a='x", "QWF_CELLS: "),
        ("a=nonsense", "cell a is not a Postgres address"),
    ],
)
def test_a_bad_list_of_cells_is_refused(
    qwf: Cli, monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    monkeypatch.setenv("QWF_CELLS", value)
    result = qwf("jobs")
    assert (result.exit_code, why in result.stderr) == (78, True), result.stderr

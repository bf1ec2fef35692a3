"""The parent imports no user code and shares nothing with its children by accident."""

from __future__ import annotations

from pathlib import Path

from support.harness import Database, StartAgent, until


def test_user_code_is_imported_by_children_only(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    marks = tmp_path / "imported by"
    agent = start("--app", "bodies", IMPORTED_BY=str(marks))
    output = base.ended(base.enqueue("whoami"))["output"]
    importers = [int(line) for line in marks.read_text().split()]
    assert output["pid"] in importers
    assert agent.pid not in importers
    maps = Path(f"/proc/{agent.pid}/maps").read_text()
    assert "bodies" not in maps


def test_the_parent_has_one_thread(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    base.ended(base.enqueue("noop"))
    assert len(list(Path(f"/proc/{agent.pid}/task").iterdir())) == 1


def test_a_child_has_no_descriptor_of_the_parent(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies", "--slots", "2")
    file = tmp_path / "pid"
    base.enqueue("telling", {"file": str(file), "seconds": 30})
    pid = int(until(lambda: file.exists() and file.read_text()))

    def sockets(process: int) -> set[str]:
        links = {str(fd.readlink()) for fd in Path(f"/proc/{process}/fd").iterdir()}
        return {link for link in links if link.startswith("socket:")}

    assert len(sockets(pid)) == 1, "its own, to the parent"
    assert not sockets(pid) & sockets(agent.pid)


def test_it_holds_no_transaction_while_a_body_runs(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    file = tmp_path / "pid"
    base.enqueue("telling", {"file": str(file), "seconds": 30})
    until(file.exists)
    query = (
        "select count(*) from pg_stat_activity where application_name ~ '^qwf agent'"
        " and datname = current_database() and state ~ '^idle in transaction'"
    )
    for _ in range(20):
        assert base.one(query) == 0

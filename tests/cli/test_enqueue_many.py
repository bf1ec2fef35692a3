"""`qwf enqueue-many`: jobs of a file, a portion in each transaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.cli import enqueue_many
from support.welcome import Cli

Db = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueue_many, "PORTION", 2)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A file of five jobs."""
    path = tmp_path / "jobs.jsonl"
    lines = [json.dumps({"task": "t", "args": {"n": n}, "key": f"k{n}"}) for n in range(5)]
    path.write_text("\n".join(lines) + "\n")
    return path


def numbers(db: Db) -> list[int]:
    return [n for (n,) in db.execute("select inputs -> 'n' from qwf.jobs order by position")]


def put(path: Path, line: int, text: str) -> None:
    """Replace a line, counted from 1."""
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines))


def test_each_line_is_a_job(on_db: Cli, db: Db, jobs: Path) -> None:
    result = on_db("enqueue-many", jobs)
    assert result.exit_code == 0, result.output
    assert result.stdout == "enqueued: 5 lines\n"
    assert result.stderr.count("no live worker serves") == 1, "said once, not for each portion"
    assert numbers(db) == [0, 1, 2, 3, 4]


def test_lines_come_from_standard_input(on_db: Cli, db: Db) -> None:
    result = on_db("enqueue-many", "--json", "-", stdin='\n{"task": "t", "args": {"n": 7}}\n\n')
    assert json.loads(result.stdout) == {
        "enqueued": 1, "last_line": 2, "new": 1, "old_args": 0, "new_args": 0
    }  # fmt: skip
    assert numbers(db) == [7]


def test_long_lines_are_enqueued_in_smaller_portions(
    on_db: Cli, db: Db, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue_many, "CHARACTERS", 100)
    put(jobs, 1, json.dumps({"task": "t", "args": {"n": 0, "filler": "x" * 100}}))
    put(jobs, 2, '{"task": "a b"}')
    assert "lines 1 to 1 are enqueued" in on_db("enqueue-many", jobs).stderr
    assert numbers(db) == [0]


def test_a_long_number_is_no_problem(on_db: Cli, db: Db) -> None:
    line = '{"task": "t", "args": {"n": 1%s}}' % ("0" * 5000)
    assert on_db("enqueue-many", "-", stdin=line).exit_code == 0
    assert db.execute("select (inputs ->> 'n')::numeric = 1e5000 from qwf.jobs").fetchone() == (
        True,
    )


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"task": "a b"}', "line 4: invalid job: task: 1 to 200 characters"),
        ('{"task": "t", "prio": 1}', "line 4: unknown key: prio"),
        ('{"task": "t", "queue": "tpu"}', "line 4: unknown queue: queue 'tpu'"),
        ('{"task": "t"', "line 4: not JSON"),
        ('{"task": "t", "task": "u"}', "line 4: not JSON: key 'task' stands twice"),
        ('[{"task": "t"}]', "line 4: not a JSON object"),
        ('{"task": "t"}, {"task": "t"}', "line 4: not JSON"),
        ('{"task": "t", "timeout": "soon"}', "invalid job"),
        ('{"task": "t", "args": {"x": NaN}}', "line 4: not JSON: NaN"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_can_follow(
    on_db: Cli, db: Db, jobs: Path, bad: str, said: str
) -> None:
    good = jobs.read_text().splitlines()[3]
    put(jobs, 4, bad)
    result = on_db("enqueue-many", jobs)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "lines 1 to 2 are enqueued" in result.stderr
    assert "--skip 2" in result.stderr
    assert numbers(db) == [0, 1]
    put(jobs, 4, good)
    result = on_db("enqueue-many", "--skip", 2, jobs)
    assert result.stdout == "enqueued: 3 lines\n"
    assert numbers(db) == [0, 1, 2, 3, 4]


def test_nothing_was_enqueued_if_the_first_portion_is_refused(on_db: Cli, jobs: Path) -> None:
    put(jobs, 1, "{}")
    assert "nothing was enqueued" in on_db("enqueue-many", jobs).stderr


def test_lines_with_keys_may_be_given_again(on_db: Cli, db: Db, jobs: Path) -> None:
    on_db("enqueue-many", jobs)
    result = on_db("enqueue-many", jobs)
    assert result.exit_code == 0, result.output
    assert numbers(db) == [0, 1, 2, 3, 4]
    merged = "  5 of them merged into jobs with the same keys, which keep their arguments"
    assert result.stdout.splitlines() == ["enqueued: 5 lines", merged]


def test_lines_that_replace_are_counted(on_db: Cli, jobs: Path) -> None:
    on_db("enqueue-many", jobs)
    put(jobs, 2, '{"task": "t", "key": "k1", "key_mode": "replace"}')
    put(jobs, 3, '{"task": "t", "key": "another"}')
    counted = json.loads(on_db("enqueue-many", "--json", jobs).stdout)
    assert counted == {"enqueued": 5, "last_line": 5, "new": 1, "old_args": 3, "new_args": 1}


def test_a_lost_connection_leaves_a_doubt(
    on_db: Cli, db: Db, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = """
        select case when (select count(*) from qwf.jobs) = 2
          then pg_terminate_backend(pg_backend_pid()) end, pg_sleep(0), kept, count(*) as lines
        from qwf.enqueue_many(%s) group by kept
    """
    monkeypatch.setattr(enqueue_many, "ENQUEUE", killed)
    result = on_db("enqueue-many", jobs)
    assert result.exit_code == 69, result.output
    assert "lines 3 to 4 may be enqueued or not" in result.stderr
    assert "--skip 2" in result.stderr
    assert numbers(db) == [0, 1]

"""An oracle of edits: producers who merge into jobs of a few keys, beside workers who claim, fail
and lose them, and a check of what the bodies saw."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import psycopg
import pytest

SECONDS = 4.0
PATIENCE_S = 60.0
Db = psycopg.Connection[Any]
Connect = Callable[[], Db]
OUTCOMES = ["completed"] * 6 + ["error", "tempfail", "fatal", "released", "lost"]
CLAIM = "select job_id, token, inputs ->> 'edit', labels ->> 'key' from qwf.claim('cpu', %s, 3)"
MERGE = """select * from qwf.enqueue_many(%s)"""
PASSING = ("40001", "40P01", "QW008")
# Two of a key at once: the later one began before the earlier one had ended.
TOGETHER = """
    select j.key, a.job_id, b.job_id
    from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id
    join qwf.jobs k on k.key = j.key and k.task = j.task and k.id <> j.id
    join qwf.job_attempts b on b.job_id = k.id
      and b.started_at >= a.started_at and b.started_at < a.finished_at"""


@dataclass
class Edits:
    """Edits that were committed, and those that bodies were given."""

    end: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    lock: threading.Lock = field(default_factory=threading.Lock)
    number: int = 0
    # by key: edits with their mode, and a time before their commit; edits that claims handed out
    committed: dict[str, list[tuple[datetime, int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    given: dict[str, list[tuple[datetime, int]]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)

    def next(self) -> int:
        with self.lock:
            self.number += 1
            return self.number

    def lost(self) -> list[str]:
        """Edits that no body can have seen: none began after their commit; and the last arguments
        of a key that were not handed out."""
        found = []
        for key, edits in self.committed.items():
            starts = [when for when, _ in self.given[key]]
            found += [
                f"{key}: {n} {mode}" for at, n, mode in edits if not any(s > at for s in starts)
            ]
            replaced = [n for _, n, mode in sorted(edits) if mode == "replace"]
            if replaced and replaced[-1] not in {n for _, n in self.given[key]}:
                found.append(f"{key}: the last arguments, {replaced[-1]}, were not used")
        return found


def produce(conn: Db, edits: Edits, dice: random.Random) -> None:
    while time.monotonic() < edits.end:
        # a window that moves on, so that no later edit of a key hides a lost one
        window = int((edits.end - time.monotonic()) * 8)
        batch = {}
        for _ in range(dice.choice([1, 1, 1, 4])):
            batch[f"k{window + dice.randrange(6)}"] = (
                edits.next(),
                dice.choice(["keep", "replace"]),
            )
        jobs = [
            {
                "task": "t", "queue": "cpu", "key": key, "args": {"edit": n}, "key_mode": mode,
                "labels": {"key": key}, "max_attempts": 2, "backoff": [0.05],
                "debounce": dice.choice([None, None, "0.05 s"]),
            }
            for key, (n, mode) in batch.items()
        ]  # fmt: skip
        try:
            conn.execute("begin" + dice.choice(["", " isolation level repeatable read"]))
            conn.execute(MERGE, [json.dumps(jobs)])
            time.sleep(dice.choice([0, 0, 0.01, 0.1]))
            row = conn.execute("select clock_timestamp()").fetchone()
            if dice.random() < 0.1:
                conn.execute("rollback")
                continue
            conn.execute("commit")
        except psycopg.Error as error:
            conn.execute("rollback")
            if error.sqlstate not in PASSING:
                edits.faults.append(str(error))
            continue
        assert row is not None
        with edits.lock:
            for key, (n, mode) in batch.items():
                edits.committed[key].append((row[0], n, mode))


def work(conn: Db, edits: Edits, dice: random.Random, over: threading.Event) -> None:
    while not over.is_set():
        try:
            conn.execute("select _qwf.promote_due()")
            conn.execute("begin")
            claimed = conn.execute(CLAIM, [str(conn.info.backend_pid)]).fetchall()
            row = conn.execute("select clock_timestamp()").fetchone()
            dropped = dice.random() < 0.05
            conn.execute("rollback" if dropped else "commit")
            if dropped or not claimed:
                time.sleep(0.002)
                continue
            assert row is not None
            given = [(key, row[0], int(n)) for _, _, n, key in claimed]
            with edits.lock:
                for key, when, n in given:
                    edits.given[key].append((when, n))
            time.sleep(dice.choice([0, 0.005, 0.02]))
            for job, token, _, _ in claimed:
                conn.execute("select qwf.finish(%s, %s, %s)", [job, token, dice.choice(OUTCOMES)])
        except psycopg.Error as error:
            edits.faults.append(str(error))


def storm(connect: Connect, seed: int) -> tuple[Edits, Db]:
    edits, over = Edits(), threading.Event()
    dice = random.Random(seed)
    producers = [
        threading.Thread(target=produce, args=(connect(), edits, random.Random(dice.random())))
        for _ in range(4)
    ]
    workers = [
        threading.Thread(target=work, args=(connect(), edits, random.Random(dice.random()), over))
        for _ in range(3)
    ]
    for thread in producers + workers:
        thread.start()
    for thread in producers:
        thread.join()
    db = connect()
    until = time.monotonic() + PATIENCE_S
    waiting = (
        "select id, key, key_state, status, attempt, failures, losses, claimed_by, run_at"
        " from qwf.jobs where status in ('scheduled', 'queued', 'running')"
    )
    while left := db.execute(waiting).fetchall():
        assert time.monotonic() < until, left
        time.sleep(0.05)
    over.set()
    for thread in workers:
        thread.join()
    return edits, db


@pytest.mark.parametrize("seed", [1, 2])
def test_no_edit_is_lost(connect: Connect, seed: int) -> None:
    edits, db = storm(connect, seed)
    assert edits.faults == []
    assert sum(map(len, edits.committed.values())) > 10
    assert edits.lost() == []
    assert db.execute(TOGETHER).fetchall() == []
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []


def test_the_oracle_sees_edits_that_are_lost(connect: Connect) -> None:
    """Without the lock of the row, claims start jobs that open transactions have merged into."""
    with connect() as db:
        row = db.execute("select pg_get_functiondef('_qwf.merge_waiting'::regproc)").fetchone()
        assert row is not None
        text = row[0]
        assert text.count("for share;") == 2
        db.execute(text.replace("for share;", ";").encode())
    assert any(storm(connect, seed)[0].lost() for seed in range(3, 11))

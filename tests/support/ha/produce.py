"""A producer in a process of its own: it enqueues one job after another, and writes down, outside
the database, which were acknowledged.

    python -m support.ha.produce ADDRESS FILE NAME PAUSE_S
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import sys
import time
from typing import Any

import psycopg

ENQUEUE = "select qwf.enqueue('noted', %s, queue => 'cpu', key => %s, once => true)"
RETRY_S = 0.2


def main(dsn: str, file: str, name: str, pause_s: float) -> None:
    dice = random.Random(name)
    conn: psycopg.Connection[Any] | None = None
    with open(file, "a", buffering=1) as notes:
        for number in itertools.count():
            key = f"{name}-{number}"
            seconds = dice.uniform(1, 5) if dice.random() < 0.15 else dice.uniform(0.2, 0.6)
            while True:  # the same key again until it is acknowledged
                tried = time.time()
                try:
                    conn = conn or _connect(dsn)
                    row = conn.execute(ENQUEUE, (json.dumps({"seconds": seconds}), key)).fetchone()
                    break
                except psycopg.Error:
                    if conn is not None:
                        with contextlib.suppress(psycopg.Error):
                            conn.close()
                    conn = None
                    time.sleep(RETRY_S)
            assert row is not None
            one = {"key": key, "job": row[0], "tried": tried, "at": time.time()}
            notes.write(json.dumps(one) + "\n")
            time.sleep(pause_s)


def _connect(dsn: str) -> psycopg.Connection[Any]:
    """Without prepared statements, which PgBouncer before 1.21 cannot share."""
    return psycopg.connect(dsn, autocommit=True, prepare_threshold=None, connect_timeout=3)


if __name__ == "__main__":
    address, file, name, pause_s = sys.argv[1:]
    main(address, file, name, float(pause_s))

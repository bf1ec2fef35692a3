"""Enqueues jobs of qwf by threads, as a web application does: qwf_producer.py produce PRODUCERS.
Reads the PG* variables."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import psycopg

from qwf_agent.app import App

app = App()


@app.task("noop")
def noop() -> None:
    pass


def produce() -> None:
    with psycopg.connect(autocommit=True) as conn:
        while True:
            noop.enqueue(conn)


if __name__ == "__main__":
    threads = [threading.Thread(target=produce, daemon=True) for _ in range(int(sys.argv[2]))]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    threads[0].join()

"""Enqueues workflows of DBOS with its client, by threads. Reads the PG* variables.

dbos_enqueue_peer.py install | listen WORKERS | produce PRODUCERS
"""

import os
import sys
import threading
import time

from dbos import DBOS, DBOSClient

URL = "postgresql://{PGUSER}@/{PGDATABASE}?host={PGHOST}&port={PGPORT}".format_map(os.environ)
CONFIG = {"name": "bench", "system_database_url": URL, "run_admin_server": False,
          "log_level": "ERROR"}  # fmt: skip


def install():
    DBOS(config=CONFIG)
    DBOS.launch()
    DBOS.register_queue("jobs")
    DBOS.destroy()


def listen(workers):
    DBOS(config=CONFIG)
    DBOS.launch()
    DBOS.register_queue("other", worker_concurrency=workers)
    print("ready", flush=True)
    while True:
        time.sleep(60)


def produce(producers):
    client = DBOSClient(system_database_url=URL, system_database_pool_size=producers)

    def one():
        while True:
            client.enqueue({"workflow_name": "noop", "queue_name": "jobs"})

    threads = [threading.Thread(target=one, daemon=True) for _ in range(producers)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    threads[0].join()


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    {"install": install, "listen": listen, "produce": produce}[verb](*map(int, rest))

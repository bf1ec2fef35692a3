"""The dashboard of docs/grafana.json, each expression run by a real Prometheus."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support import lively
from support.harness import until
from support.made_jobs import claim, finish, worker
from support.servers import ROOT

Db = psycopg.Connection[Any]
DASHBOARD = json.loads((ROOT / "docs" / "grafana.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [(panel["title"], one["expr"]) for panel in PANELS for one in panel["targets"]]
ENTRY = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]
# What Grafana puts in their places.
VARIABLES = {"$__rate_interval": "1m", "$queue": ".*"}
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: qwf
    static_configs: [{{targets: ["{target}"]}}]
"""


@contextlib.contextmanager
def metrics(dsn: str) -> Iterator[str]:
    """`qwf metrics` on a port; gives host and port."""
    process = subprocess.Popen(
        [*ENTRY, "metrics", "--listen", ":0"], env={**os.environ, "QWF_DSN": dsn},
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        yield urllib.parse.urlsplit(process.stderr.readline().strip()).netloc
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """A Prometheus that scrapes the target every second; gives its address."""
    (folder / "prometheus.yml").write_text(CONFIG.format(target=target))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml",
         f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait()


def ask(address: str, expression: str) -> list[Any]:
    """The result of an expression. Raises HTTPError for one that Prometheus refuses."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    query = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"{address}/api/v1/query?{query}", timeout=30) as answer:
        found = json.load(answer)
    assert found["status"] == "success", found
    result: list[Any] = found["data"]["result"]
    return result


def seen(address: str) -> int:
    """How often Prometheus has scraped."""
    with contextlib.suppress(OSError):
        found = ask(address, "count_over_time(qwf_up[10m])")
        return int(found[0]["value"][1]) if found else 0
    return 0


def work(db: Db, cpu: str) -> None:
    """A run that completes and one that fails, between two scrapes; and what the boxes report."""
    for outcome in ("completed", "fatal"):
        db.execute("select qwf.enqueue_run('nightly')")
        finish(db, claim(db, "cpu", cpu)[0], outcome)
    for host in ("box-a", "box-b"):
        db.execute("select qwf.report_metrics(%s, %s)", (host, json.dumps(lively.SAMPLE)))
    db.execute("select qwf.heartbeat(id) from qwf.workers")
    db.execute("select qwf.heartbeat(%s, stats => '{\"out_free_bytes\": 1000000000}')", (cpu,))
    for part in ("roll_up_counts(1000)", "number_and_match()", "learn_runs()"):
        db.execute(f"select _qwf.{part}")


def test_each_panel_has_data(db: Db, dsn: str, tmp_path: Path) -> None:
    """Each expression is one that Prometheus takes, and has a result on a lively fleet."""
    if shutil.which("prometheus") is None and os.environ.get("QWF_PROMTOOL") != "required":
        pytest.skip("Prometheus is not installed (Debian: apt-get install prometheus)")
    lively.fill(db)
    steps = [{"id": "go", "node": "detect", "queue": "cpu"}]
    workflow = json.dumps({"name": "nightly", "steps": steps})
    db.execute("select qwf.register_workflow(%s)", (workflow,))
    cpu = worker(db, "cpu", host="box-c", out_root="/srv/out")
    db.execute('select qwf.set_alert(\'r\', \'{"when": ["lost"], "do": {"receiver": "x"}}\')')
    db.execute(
        "insert into _qwf.open_states (kind, subject, since) values ('worker_dead', 'box-d', now())"
    )
    work(db, cpu)
    with metrics(dsn) as target, prometheus(tmp_path, target) as address:
        until(lambda: seen(address) >= 2, "two scrapes")
        work(db, cpu)
        before = seen(address)
        until(lambda: seen(address) >= before + 2, "two more scrapes")
        empty = [query for query in QUERIES if not ask(address, query[1])]
        assert not empty, "\n".join(map(str, empty))
        p95 = next(expr for title, expr in QUERIES if title.startswith("Body") and "0.95" in expr)
        assert any(row["value"][1] != "NaN" for row in ask(address, p95))


def test_the_dashboard_is_one_that_grafana_reads() -> None:
    """Panels have their own numbers, do not overlap, and name no variable that is not there."""
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert (x, y) not in places, panel["title"]
                assert x < 24, panel["title"]
                places.add((x, y))
    known = {one["name"] for one in DASHBOARD["templating"]["list"]} | {"__rate_interval"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"])))
    assert used == known

"""`qwf metrics`, read as Prometheus reads it."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from psycopg.types.json import Jsonb

from qwf_agent import __version__
from qwf_agent.cli import scrapes
from support.welcome import Cli

Db = psycopg.Connection[Any]
CARD = {"id": 0, "use_pct": 97, "vram_used_mb": 1024, "vram_total_mb": 4096}
SAMPLE = {
    "cpu_percent": 50,
    "ram_percent": 25,
    "ram_used_mb": 512,
    "ram_total_mb": 2048,
    "gpus": [CARD],
}
ENTRY = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the order of their names."""
    return {
        (one.name, *(value for _, value in sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_the_metrics_match_the_database(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3)")
    db.execute("select qwf.register_worker('box-a', 'cpu', '{\"slots\": 4}')")
    db.execute("select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'box-a', 1)")
    db.execute("select from qwf.claim('cpu', 'box-a', 1)")
    db.execute("select qwf.report_metrics('box-a', %s)", (Jsonb(SAMPLE),))
    db.execute("select qwf.pause_queue('gpu'), _qwf.roll_up_counts(100), qwf.tick()")
    result = on_db("metrics")
    assert result.exit_code == 0, result.output
    found = samples(result.stdout)
    assert found["qwf_up",] == 1
    assert found["qwf_unreadable",] == 0
    assert found["qwf_queued_jobs", "cpu"] == 1
    assert found["qwf_running_jobs", "cpu"] == 1
    assert found["qwf_queue_slots", "cpu"] == 4
    assert 0 < found["qwf_queue_head_wait_seconds", "cpu"] < 3600
    assert found["qwf_queue_oldest_wait_seconds", "cpu"] > 0
    assert found["qwf_queue_paused", "gpu"] == 1
    assert found["qwf_workers", "box-a", "cpu", "idle"] == 1
    assert found["qwf_attempts_total", "completed", "cpu", "t"] == 1
    assert found["qwf_runs", "failed"] == 0
    assert found["qwf_pending_inputs",] == found["qwf_outbox_events",] == 0
    assert 0 <= found["qwf_tick_age_seconds",] < 60
    assert found["qwf_host_cpu_ratio", "box-a"] == 0.5
    assert found["qwf_host_memory_bytes", "box-a"] == 2**31
    assert found["qwf_gpu_memory_used_bytes", "0", "box-a"] == 2**30
    assert ("qwf_dead_rows", "jobs") in found


def test_names_and_units_follow_the_conventions_of_prometheus(on_db: Cli) -> None:
    families = list(text_string_to_metric_families(on_db("metrics").stdout))
    for family in families:
        assert re.fullmatch(r"qwf(_[a-z]+)+", family.name)
        assert family.documentation.endswith(".")
    assert len({family.name for family in families}) == len(families)


def test_a_query_that_fails_is_reported(on_db: Cli, db: Db) -> None:
    db.execute("drop view qwf.pending_inputs cascade")
    result = on_db("metrics")
    assert result.exit_code != 0
    assert samples(result.stdout)["qwf_unreadable",] == 1
    assert "pending_inputs" in result.stderr


def test_the_cards_of_one_box_do_not_hide_those_of_others(on_db: Cli, db: Db) -> None:
    for host, reading in [("box-b", "all"), ("box-c", 10**30), ("box-d", {}), ("box-e", -1)]:
        sample = {"gpus": [{"id": 0, "use_pct": reading, "vram_used_mb": reading}, reading]}
        db.execute("select qwf.report_metrics(%s, %s)", (host, Jsonb(sample)))
    tiny = '{"gpus": [{"id": 0, "use_pct": 1e-400}]}'  # no float8 holds it
    db.execute("select qwf.report_metrics('box-f', %s)", (tiny,))
    unnamed = {key: value for key, value in CARD.items() if key != "id"}
    for host, found in [("box-a", [CARD]), ("box-g", [unnamed, unnamed])]:
        db.execute("select qwf.report_metrics(%s, %s)", (host, Jsonb({"gpus": found})))
    result = on_db("metrics")
    assert result.exit_code == 0, result.output
    cards = {name for name in samples(result.stdout) if name[0] == "qwf_gpu_memory_used_bytes"}
    assert {name[1:] for name in cards} == {("0", "box-a"), ("0", "box-g"), ("1", "box-g")}


def test_a_worker_that_was_restarted_is_not_dead(on_db: Cli, db: Db) -> None:
    """The alert of docs/operations.md about boxes that are gone."""
    db.execute(
        "insert into qwf.workers (id, host, queue, started_at, last_seen)"
        " values ('old', 'box-a', 'cpu', now() - interval '2 h', now() - interval '1 h')"
    )
    assert samples(on_db("metrics").stdout)["qwf_workers", "box-a", "cpu", "dead"] == 1
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    found = samples(on_db("metrics").stdout)
    assert ("qwf_workers", "box-a", "cpu", "dead") not in found
    assert found["qwf_workers", "box-a", "cpu", "idle"] == 1


@pytest.fixture
def viewer(dsn: str, db: Db) -> Iterator[str]:
    """The address of a login that has qwf_viewer alone."""
    db.execute("drop role if exists watching")
    db.execute("create role watching login in role qwf_viewer")
    yield f"{dsn} user=watching"
    db.execute("drop role watching")


def test_what_a_login_may_not_read_is_left_out_and_counted(
    on_db: Cli, db: Db, dsn: str, viewer: str
) -> None:
    with psycopg.connect(dsn) as other:  # a snapshot that stays
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1")
        result = on_db("metrics", "--dsn", viewer)
        assert result.exit_code == 1
        assert "may not read qwf_oldest_snapshot_seconds" in result.stderr
        assert "grant pg_read_all_stats" in result.stderr
        found = samples(result.stdout)
        assert found["qwf_unreadable",] == 1
        assert ("qwf_oldest_snapshot_seconds",) not in found
        db.execute("grant pg_read_all_stats to watching")
        result = on_db("metrics", "--dsn", viewer)
        assert result.exit_code == 0, result.output
        found = samples(result.stdout)
        assert found["qwf_unreadable",] == 0
        assert found["qwf_oldest_snapshot_seconds",] > 0


def test_figures_for_people_on_call(on_db: Cli, db: Db, viewer: str) -> None:
    db.execute("grant pg_read_all_stats to watching")
    info = Jsonb({"out_root": "/srv/out", "version": "0.1.0"})
    row = db.execute("select qwf.register_worker('box-a', 'cpu', %s)", (info,)).fetchone()
    assert row is not None
    stats = Jsonb({"out_free_bytes": 5 << 30})
    db.execute("select qwf.heartbeat(%s, stats => %s)", (row[0], stats))
    db.execute("select qwf.pause_queue('gpu'), qwf.worker_control('box-b', 'cpu', 'off')")
    db.execute("select qwf.create_schedule('nightly', task => 't', queue => 'cpu', every => '1 d')")
    result = on_db("metrics", "--dsn", viewer)
    assert result.exit_code == 0, result.output
    found = samples(result.stdout)
    assert found["qwf_tick_age_seconds",] == float("inf"), "nothing has ever ticked"
    assert found["qwf_out_root_free_bytes", "box-a", "/srv/out"] == 5 << 30
    assert found["qwf_worker_versions", "0.1.0"] == 1
    assert [name[1] for name in found if name[0] == "qwf_schema_info"] == [__version__]
    assert found["qwf_queue_paused_seconds", "gpu"] >= 0
    assert ("qwf_queue_paused_seconds", "cpu") not in found
    assert found["qwf_off_seconds", "box-b", "cpu"] >= 0
    assert found["qwf_oldest_xid_age",] > 0
    assert found["qwf_schedule_next_timestamp_seconds", "nightly"] > 1.7e9
    success = ("qwf_schedule_last_success_timestamp_seconds", "nightly")
    assert success not in found
    db.execute("select qwf.fire_schedule('nightly')")
    db.execute("select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'w', 1)")
    first = samples(on_db("metrics").stdout)[success]
    db.execute("select qwf.fire_schedule('nightly')")
    assert samples(on_db("metrics").stdout)[success] == first, "while the next one runs"
    db.execute("select qwf.pause_queue('gpu'), qwf.resume_queue('gpu')")
    assert ("qwf_queue_paused_seconds", "gpu") not in samples(on_db("metrics").stdout)


@pytest.fixture
def served(dsn: str) -> Any:
    """The address of a metrics server, and its process."""
    process = subprocess.Popen(
        [*ENTRY, "metrics", "--listen", ":0"],
        env={**os.environ, "QWF_DSN": dsn},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    yield process.stderr.readline().strip(), process
    process.kill()
    process.wait()


def test_a_connection_serves_many_scrapes(served: tuple[str, subprocess.Popen[str]]) -> None:
    """As Prometheus asks: it keeps the connection, and takes gzip."""
    address = urlsplit(served[0])
    connection = HTTPConnection(str(address.hostname), address.port, timeout=60)
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        connection.request("GET", address.path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        assert answer.getheader("Content-Encoding") is None, "nothing leaves the box"
        assert answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
        assert samples(body.decode())["qwf_up",] == 1


def test_a_scrape_from_another_box_is_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    accept = scrapes.Server.get_request
    monkeypatch.setattr(
        scrapes.Server, "get_request", lambda self: (accept(self)[0], ("192.0.2.7", 5))
    )
    server = scrapes.listen("127.0.0.1", 0, lambda: "qwf_up 1\n" * 1000)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        for headers, size in (({}, 9000), ({"Accept-Encoding": "gzip"}, 200)):
            connection.request("GET", "/metrics", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            assert len(body) <= size
            if headers:
                assert answer.getheader("Content-Encoding") == "gzip"
                body = gzip.decompress(body)
            assert body == b"qwf_up 1\n" * 1000
    finally:
        server.shutdown()
        server.server_close()


def scraped(address: str) -> dict[tuple[str, ...], float]:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return samples(answer.read().decode())


def test_the_server_runs_until_interrupted_and_survives_a_lost_connection(
    served: tuple[str, subprocess.Popen[str]], db: Db
) -> None:
    address, process = served
    assert address.startswith("http://127.0.0.1:"), "it listens for this box only unless told"
    db.execute("select qwf.enqueue('t', queue => 'cpu')")
    assert scraped(address)["qwf_queued_jobs", "cpu"] == 1
    db.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'qwf' and datname = current_database()"
    )
    assert scraped(address)["qwf_up",] == 0
    assert scraped(address)["qwf_up",] == 1
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


def test_without_a_database_it_says_so(on_db: Cli, tmp_path: Any) -> None:
    assert on_db("metrics", "--dsn", f"host={tmp_path} port=1 user=x dbname=x").exit_code == 69
    assert on_db("metrics", "--listen", "nowhere").exit_code == 2
    assert on_db("metrics", "--listen", "127.0.0.1:99999").exit_code == 2


def test_more_than_200_tasks_share_the_name_other(on_db: Cli, db: Db) -> None:
    """The buckets of each histogram grow, and those of the tasks without a name are added up."""
    db.execute(
        "insert into qwf.attempt_totals select 'cpu', 't' || to_char(n, 'FM000'), 'completed', 4,"
        " 2, '{1, 3}', 8, '{4}' from generate_series(1, 205) n"
    )
    name = "qwf_attempt_queue_seconds_bucket"
    found: dict[str, list[float]] = {}
    for family in text_string_to_metric_families(on_db("metrics").stdout):
        for one in family.samples:
            if one.name == name:
                found.setdefault(one.labels["task"], []).append(one.value)
    assert len(found) == 201
    assert found["t001"] == [1.0, *[4.0] * 17]
    assert found["other"] == [5.0, *[20.0] * 17]


def test_the_text_says_what_the_view_says(on_db: Cli, db: Db) -> None:
    """Each row of qwf.metrics with a figure is a line, whatever characters its labels have."""
    names = ["load", 'a"b', "back\\slash", 'x": "', "two\nlines", "é→", '", "']
    for name in names:
        db.execute(
            "insert into qwf.attempt_totals values ('cpu', %s, 'completed', 3, 2, '{1}', 2, '{2}')",
            (name,),
        )
    db.execute("insert into _qwf.run_totals values ('w', 'failed', 1, 2, array_fill(1, array[17]))")
    rows = db.execute("select name, labels from qwf.metrics where value is not null").fetchall()
    result = on_db("metrics")
    assert result.exit_code == 0, result.output
    found = samples(result.stdout)
    ours = {("qwf_up",), ("qwf_standby",), ("qwf_standby_behind_seconds",)}
    said = {(name, *(value for _, value in sorted(labels.items()))) for name, labels in rows}
    assert set(found) - ours == said
    assert found["qwf_attempts_total", "completed", "cpu", 'x": "'] == 3
    assert found["qwf_run_seconds_bucket", "0.001000", "failed", "w"] == 1


def test_promtool_finds_nothing_wrong_with_them(on_db: Cli, db: Db) -> None:
    """Histograms, counters and gauges are named as Prometheus wants them."""
    promtool = shutil.which("promtool")
    if promtool is None and os.environ.get("QWF_PROMTOOL") != "required":
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    assert promtool is not None, "QWF_PROMTOOL=required"
    db.execute("insert into _qwf.run_totals values ('w', 'failed', 1, 2, array_fill(1, array[17]))")
    db.execute("insert into _qwf.event_totals values ('lost', 1, 0)")
    db.execute("insert into qwf.attempt_totals values ('q', 't', 'lost', 1, 2, '{1}', 2, '{1}')")
    text = on_db("metrics").stdout
    assert "qwf_run_seconds_bucket{" in text
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr

"""The pages of the fleet and of one box, and who may switch what there."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from qwf_agent.web.reads import snapshot
from support import poison
from support.visitors import Visit

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Db = psycopg.Connection[Any]


def one(db: Db, query: LiteralString, *parameters: Any) -> Any:
    """The value that a query returns."""
    (row,) = db.execute(query, parameters).fetchall()
    return row[0]


def worker(db: Db, host: str, queue: str = "gpu", **info: Any) -> str:
    """A live worker."""
    db.execute("select qwf.create_queue(%s)", (queue,))
    given = {"slots": 2, "models": ["flux", "sdxl"], "version": "0.1.0"} | info
    name: str = one(db, "select qwf.register_worker(%s, %s, %s)", host, queue, Jsonb(given))
    return name


def beat(db: Db, name: str, *models: dict[str, Any], **stats: Any) -> None:
    """A heartbeat of a worker that has these models."""
    db.execute("select qwf.heartbeat(%s, stats => %s)", (name, Jsonb({"models": models} | stats)))


def measure(db: Db, host: str, **sample: Any) -> None:
    """A sample of a box."""
    given = {"cpu_percent": 40, "ram_percent": 50, "ram_used_mb": 8192, "ram_total_mb": 16384}
    db.execute("select qwf.report_metrics(%s, %s)", (host, Jsonb(given | sample)))


def running(db: Db, name: str, model: str = "flux", queue: str = "gpu") -> int:
    """A job that runs at this worker."""
    db.execute("select qwf.enqueue('draw', queue => %s, model => %s)", (queue, model))
    job: int = one(db, "select job_id from qwf.claim(%s, %s)", queue, name)
    return job


def test_a_box_shows_its_load_its_cards_and_the_model_in_each(visit: Visit, db: Db) -> None:
    db.execute("update qwf.settings set model_idle = '1 h'")
    name = worker(db, "box-a")
    beat(
        db, name, {"card": 0, "model": "flux", "busy": True, "warm_s": 60, "idle_s": 0},
        {"card": 1, "model": "sdxl", "busy": False, "warm_s": 600, "idle_s": 1770},
        model_loads=3, model_load_s=75.0, swaps_avoided=7,
    )  # fmt: skip
    card = {"use_pct": 97, "vram_used_mb": 18432, "vram_total_mb": 24576}
    measure(db, "box-a", cpu_ours_percent=31, swap_used_mb=3072, gpus=[
        {"id": 0, **card}, {"id": 1, **card, "use_pct": 3}])  # fmt: skip
    page = visit("viewer").text("/fleet")
    for shown in (
        *("40 %, qwf 31 %", "8.0 GiB of 16.0 GiB", "3.0 GiB in use", "97 %", "18.0 GiB of 24.0"),
        *("<b>flux</b> in use, warm for 1 min", "<b>sdxl</b> unloads in 30 min", "warm for 10 min"),
        *("3 models loaded in 1 min 15 s, 7 loads avoided", "0 of 2"),
    ):
        assert shown in page, shown
    assert page.index("GPU 0") < page.index("<b>flux</b>") < page.index("GPU 1")


def test_off_says_first_which_jobs_it_kills_and_who_could_take_each(visit: Visit, db: Db) -> None:
    name = worker(db, "box-a")
    worker(db, "box-b", models=["flux"])
    worker(db, "box-c", "cpu")
    movable, stuck = running(db, name), running(db, name, "sdxl")
    page = visit("admin").text("/fleet")
    off = page[page.index('id="act-worker_control-box-a-gpu-off-hard"') :].partition("</details>")[
        0
    ]
    assert "It kills 2 running jobs" in off
    assert f"job {movable}</a> draw" in off
    assert off.index("box-b could take it") < off.index(f"job {stuck}")
    assert "no other box could take it" in off
    assert "box-c" not in off


def test_a_worker_is_switched_off_for_a_time_and_a_reason_and_on_again(
    visit: Visit, db: Db
) -> None:
    worker(db, "box-a")
    admin = visit("admin")
    until = datetime.now(timezone.utc) + timedelta(hours=2)
    switch = {"host": "box-a", "queue": "gpu"}
    said = admin.do("worker_control", **switch, state="off", policy="drain", reason="new card",
                    until=until.isoformat())  # fmt: skip
    assert "gpu on box-a is off" in said.text
    page = admin.text("/fleet")
    assert "draining by" in page
    assert ": new card" in page
    assert 'action="/do/worker_control"' in page
    assert one(db, "select state from qwf.worker_overview") == "off"
    admin.do("worker_control", **switch, state="on")
    assert one(db, "select state from qwf.worker_overview") == "idle"


@pytest.mark.parametrize("until", ["soon", "2001-01-01T00:00:00Z", "infinity"])
def test_a_time_that_makes_no_sense_switches_nothing(visit: Visit, db: Db, until: str) -> None:
    worker(db, "box-a")
    answer = visit("admin").do("worker_control", host="box-a", queue="gpu", state="off",
                               until=until)  # fmt: skip
    assert answer.status_code in (409, 422)
    assert one(db, "select state from qwf.worker_overview") == "idle"


@pytest.mark.parametrize("level", ["viewer", "operator"])
def test_only_an_admin_sees_switches_and_uses_them(visit: Visit, db: Db, level: str) -> None:
    worker(db, "box-a")
    person = visit(level)
    for path in ("/fleet", "/fleet/box-a"):
        assert "/do/worker_control" not in person.text(path)
        assert "/do/request_model" not in person.text(path)
    answer = person.do("worker_control", host="box-a", queue="gpu", state="off")
    assert answer.status_code == 403
    assert one(db, "select count(*) from qwf.worker_controls") == 0


def test_a_model_is_asked_for_and_the_page_says_how_that_went(visit: Visit, db: Db) -> None:
    worker(db, "box-a")
    db.execute("select qwf.enqueue('draw', queue => 'gpu', model => 'sdxl')")
    db.execute("select qwf.enqueue('draw', queue => 'gpu', model => 'sdxl')")
    admin = visit("admin")
    asked = {"host": "box-a", "queue": "gpu", "model": "sdxl", "action": "load"}
    assert "asked gpu on box-a to load" in admin.do("request_model", **asked).text
    page = admin.text("/fleet")
    assert "load sdxl on box-a, gpu:" in page
    assert "waits for the worker" in page
    row = page[page.index('id="model-gpu-sdxl"') :].partition("</tr>")[0]
    assert ">2</td>" in row
    db.execute(
        "update qwf.model_requests set taken_by = 'w', answered_at = now(), error = 'no room'"
    )
    assert "no room" in visit("viewer").text("/fleet")
    db.execute(
        "update qwf.model_requests set answered_at = null, error = null, progress = 'pulling: 4 %'"
    )
    assert "the worker that took it has ended" in visit("viewer").text("/fleet")
    db.execute(
        "update qwf.model_requests set taken_by = (select id from qwf.workers),"
        " requested_at = now() - interval '3 h'"
    )
    for path in ("/fleet", "/fleet/box-a"):
        assert "under way, pulling: 4 %" in visit("viewer").text(path)
    refused = admin.do("request_model", **{**asked, "model": "sdxI"})
    assert (refused.status_code, "sdxl" in refused.text) == (409, True)


SERVERS = [
    {"name": "vllm", "kind": "openai", "external": False, "parallel": 8, "idle_s": 300, "card": 0,
     "models": {"qwen": 9500, "phi": None}},
    {"name": "ollama", "kind": "ollama", "external": True, "parallel": 2, "models": {"tiny": None}},
    {"name": "llama", "kind": "openai", "external": False, "parallel": 1, "idle_s": 0,
     "card": "none", "models": {"small": None}},
]  # fmt: skip
READY = {"name": "vllm", "state": "ready", "model": "qwen", "inflight": 3, "since_s": 60,
         "load_s": 27, "starts": 2, "crashes": 1}  # fmt: skip
BROKEN = {"name": "llama", "state": "broken", "starts": 5, "crashes": 5,
          "error": "exit 1: no memory\nTried to allocate 9 GiB"}  # fmt: skip
ANSWERS = {"name": "ollama", "state": "ready", "model": "tiny", "error": "was gone at noon"}


def serving(db: Db, *doing: dict[str, Any]) -> str:
    """Box-a serves the queue llm with three model servers, which do this."""
    name = worker(db, "box-a", "llm", slots=11, models=["phi", "qwen", "tiny"], servers=SERVERS)
    beat(db, name, servers=doing or (READY, BROKEN, ANSWERS))
    return name


def section(page: str) -> str:
    """The model servers of the first box that has some."""
    return page[page.index('<section class="servers">') :].partition("</section>")[0]


@pytest.mark.parametrize("path", ["/fleet", "/fleet/box-a"])
def test_each_model_server_of_a_box_is_shown_and_those_in_trouble_come_first(
    visit: Visit, db: Db, path: str
) -> None:
    serving(db)
    shown = section(visit("viewer").text(path))
    for text in (
        *("<b>qwen</b>, 9.3 GiB VRAM", "ready for 1 min 00 s", "loaded in 27 s", "3 of 8"),
        *('stops after <span class="nowrap">5 min</span> without a job', "started 2 times"),
        *("1 crash<", "5 crashes", "not stopped when idle", "not started by us"),
        *("last error: was gone at noon", "can serve small"),
        '<summary class="error small">exit 1: no memory</summary>',
    ):
        assert text in shown, text
    assert shown.count('<i class="used">') == 3
    assert shown.index("Tried to allocate") < shown.index(">ollama<") < shown.index(">vllm<")
    assert "/do/" not in shown


@pytest.mark.parametrize("path", ["/fleet", "/fleet/box-a"])
def test_a_card_names_the_servers_that_hold_a_part_of_it(visit: Visit, db: Db, path: str) -> None:
    name = serving(db)
    card = {"id": 0, "use_pct": 80, "vram_used_mb": 10240, "vram_total_mb": 81920}
    measure(db, "box-a", gpus=[card])

    def shown() -> str:
        page = visit("viewer").text(path)
        return page[page.index('<div class="gpu">') :].partition('<ul class="workers">')[0]

    assert "10.0 GiB of 80.0 GiB" in shown(), "what the driver says"
    assert "<b>qwen</b> in server vllm, about 9.3 GiB</span>" in shown(), "what is configured"
    assert "llama" not in shown(), "it uses no card"
    beat(db, name, servers=[{**READY, "state": "off", "model": None}, BROKEN, ANSWERS])
    assert "vllm" not in shown()
    assert "no model" in shown()


def test_a_model_is_loaded_by_a_server_unloaded_and_tried_again(visit: Visit, db: Db) -> None:
    serving(db)
    admin = visit("admin")
    page = admin.text("/fleet")
    assert page.count("Load a model…") == 1
    assert "<option>phi</option><option>qwen</option><option>small</option>" in page
    shown = section(page)
    assert "Unload qwen" in shown
    assert "Unload tiny" in shown, "ollama can be asked"
    again = shown[shown.index('<form class="act"') :].partition("</form>")[0]
    assert 'name="model" value="small"' in again
    assert "Start again" in again
    asked = {"host": "box-a", "queue": "llm", "model": "small", "action": "load"}
    assert "asked llm on box-a to load" in admin.do("request_model", **asked).text
    row = page[page.index('id="model-llm-qwen"') :].partition("</tr>")[0]
    assert '"loaded on">box-a<' in row
    row = page[page.index('id="model-llm-phi"') :].partition("</tr>")[0]
    assert "box-a" not in row.partition("could be")[0], "it could be loaded there"


def test_a_server_that_rests_says_how_it_ended_and_what_it_can_serve(visit: Visit, db: Db) -> None:
    off = {"name": "vllm", "state": "off", "model": None, "crashes": 1, "error": "signal 9"}
    serving(db, off, {"name": "llama", "state": "off"}, {"name": "ollama", "state": "gone"})
    shown = section(visit("viewer").text("/fleet"))
    assert '<p class="muted small">last ended: signal 9</p>' in shown
    assert "can serve phi, qwen" in shown
    line = visit("viewer").text("/").partition('id="box-')[2].partition("</li>")[0]
    assert "can serve phi, qwen" in line


def test_a_model_that_only_a_broken_server_has_is_in_the_table(visit: Visit, db: Db) -> None:
    serving(db, READY, BROKEN, {**ANSWERS, "lacks": {"tiny": "not pulled yet"}})
    db.execute("select qwf.enqueue('llm', queue => 'llm', model => 'small')")
    page = visit("viewer").text("/fleet")
    row = page[page.index('id="model-llm-small"') :].partition("</tr>")[0]
    assert "box-a: its server llama is broken" in row
    assert ">1</td>" in row
    row = page[page.index('id="model-llm-tiny"') :].partition("</tr>")[0]
    assert "box-a: its server ollama lacks it" in row


def three_queues(db: Db, **info: Any) -> list[str]:
    """The three workers of one agent, which has servers, and models that its children load."""
    given = {"slots": 5, "pid": 47, "models": ["flux", "phi", "qwen", "tiny"]} | info
    names = [
        worker(db, "box-a", queue, **given, servers=SERVERS if queue == "llm" else [])
        for queue in ("cpu", "gpu", "llm")
    ]
    held = {"card": 0, "model": "flux", "busy": False, "warm_s": 60, "idle_s": 1}
    for name in names:
        beat(db, name, held, servers=(READY, BROKEN, ANSWERS), model_loads=3)
    return names


def test_slots_and_models_of_an_agent_with_three_queues_are_counted_once(
    visit: Visit, db: Db
) -> None:
    three_queues(db)
    page = visit("admin").text("/fleet")
    assert "0 of 5 slots in use" in page
    assert page.count("<b>flux</b>") == 1
    assert "3 models loaded" in page
    assert page.count('<summary class="button ">Unload flux…') == 1
    offers = page.split("Load a model…")[1:]
    lists = [offer.partition("</select>")[0].rpartition('name="model">')[2] for offer in offers]
    assert lists == [
        "<option>flux</option>",
        "<option>phi</option><option>qwen</option><option>small</option><option>tiny</option>",
    ]
    for queue in ("cpu", "gpu", "llm"):
        row = page[page.index(f'id="model-{queue}-flux"') :].partition("</tr>")[0]
        assert '"loaded on">box-a<' in row
    assert 'id="model-llm-qwen"' in page
    assert 'id="model-cpu-qwen"' not in page, "a server of the queue llm has it"
    db.execute("select qwf.enqueue('t', queue => 'cpu', model => 'qwen')")
    assert 'id="model-cpu-qwen"' in visit("admin").text("/fleet"), "a job waits for it there"
    three_queues(db)
    assert "0 of 10 slots in use" in visit("admin").text("/fleet"), "another one with this pid"


def test_models_are_offered_by_a_worker_that_is_on(visit: Visit, db: Db) -> None:
    three_queues(db)
    db.execute("select qwf.worker_control('box-a', 'cpu', 'off')")
    db.execute("update qwf.workers set servers = jsonb_set(servers, '{1,kind}', '\"openai\"')")
    page = visit("admin").text("/fleet")
    first, second = page.split("Load a model…")[1:]
    assert 'name="queue" value="gpu"' in first.partition("</form>")[0]
    assert "<option>flux</option></select>" in first
    offered = second.partition("</select>")[0]
    assert "<option>tiny</option>" not in offered, "nobody here starts that server"
    assert "<option>small</option>" in offered
    unload = page.partition("Unload flux…")[2].partition("</form>")[0]
    assert 'name="queue" value="gpu"' in unload


def test_nobody_unloads_a_model_of_a_server_that_is_not_ours(visit: Visit, db: Db) -> None:
    serving(db)
    db.execute("update qwf.workers set servers = jsonb_set(servers, '{1,kind}', '\"openai\"')")
    shown = section(visit("admin").text("/fleet"))
    assert "Unload qwen" in shown
    assert "Unload tiny" not in shown


def test_a_job_that_waits_for_a_broken_server_names_it(visit: Visit, db: Db) -> None:
    serving(db)
    job = one(db, "select qwf.enqueue('llm', queue => 'llm', model => 'small')")
    page = visit("viewer").text(f"/jobs/{job}")
    assert "its server llama could serve small, but is broken: exit 1: no memory" in page
    assert "Tried to allocate" not in page
    assert "mend what the error of the model server says" in page
    assert "start a worker of queue" not in page
    server = page.partition('href="/fleet/box-a#')[2].partition('"')[0]
    assert f'id="{server}"' in visit("viewer").text("/fleet/box-a"), "the link leads to the server"
    assert "Start llama on box-a again" not in page, "a viewer may not"
    assert "Start llama on box-a again" in visit("admin").text(f"/jobs/{job}")
    worker(db, "box-b", "llm", models=["small"])
    page = visit("admin").text(f"/jobs/{job}")
    assert "again</button>" not in page, "box-b can take it"


def test_model_servers_are_set_and_set_back(visit: Visit, db: Db) -> None:
    serving(db)
    admin, there = visit("admin"), {"host": "box-a", "queue": "llm"}
    assert "Set back" not in section(admin.text("/fleet"))
    said = admin.do("configure_server", **there, server="vllm", parallel="4", idle="90 s")
    assert "the model servers of llm on box-a are set" in said.text
    shown = section(admin.text("/fleet"))
    assert "<option selected>vllm</option>" in shown
    assert 'name="parallel" min="1" max="10000" value="4"' in shown
    assert 'value="90 s"' in shown
    assert "3 of 4" in shown
    assert shown.count("not chosen") == 2
    assert "configure_server" in shown.partition("<pre")[2], "its SQL"
    assert "Set back" in shown
    set_to = "select server, parallel, server_idle::text from qwf.worker_controls"
    assert db.execute(set_to).fetchall() == [("vllm", 4, "00:01:30")]
    refused = admin.do("configure_server", **there, server="vlm")
    assert (refused.status_code, "did you mean vllm?" in refused.text) == (409, True)
    admin.do("configure_server", **there, server="", parallel="", idle="")
    assert db.execute(set_to).fetchall() == [(None, None, None)]
    assert visit("operator").do("configure_server", **there, parallel="4").status_code == 403


def test_tabs_hear_of_a_model_server_but_not_that_time_passes(visit: Visit, db: Db) -> None:
    """The state and what is set are news; the seconds in a state are none."""
    name = serving(db)

    def heard() -> int:
        found = db.cursor(row_factory=dict_row).execute(snapshot.SERVERS).fetchall()
        return snapshot._print_of(found)

    before = heard()
    more = {"since_s": 65, "tokens": 9, "tokens_per_s": 0.2, "log": "printed", "log_bytes": 7}
    beat(db, name, servers=[{**READY, **more}, BROKEN, ANSWERS])
    assert heard() == before
    workers = db.execute(snapshot.WORKERS).fetchall()
    assert "printed" not in str(workers), "no page shows the log"
    db.execute("select qwf.configure_server('box-a', 'llm', idle => '1 h')")
    assert (after := heard()) != before
    beat(db, name, servers=[READY, {**BROKEN, "state": "starting"}, ANSWERS])
    assert heard() != after


def test_dead_and_stopped_workers_are_apart_and_no_cards(visit: Visit, db: Db) -> None:
    dead, stopped = worker(db, "box-dead"), worker(db, "box-stopped")
    job = running(db, dead)
    db.execute("update qwf.workers set last_seen = now() - interval '1 h' where id = %s", (dead,))
    db.execute("select qwf.deregister_worker(%s)", (stopped,))
    page = visit("viewer").text("/fleet")
    assert f'id="dead-{dead.replace(":", "-")}"' in page
    assert f'id="stopped-{stopped.replace(":", "-")}"' in page
    assert 'class="card box"' not in page
    assert job
    worker(db, "box-dead")
    assert "Dead workers" not in visit("viewer").text("/fleet")


def test_a_switch_without_a_worker_can_be_undone(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('gpu')")
    db.execute("select qwf.worker_control('box-new', 'gpu', 'off', reason => 'not paid yet')")
    page = visit("admin").text("/fleet")
    assert "not paid yet" in page
    assert 'name="host" value="box-new"' in page


def test_an_empty_fleet_says_what_makes_a_box_appear(visit: Visit) -> None:
    assert "qwf agent --queue cpu --nodes PACKAGE" in visit("viewer").text("/fleet")


def test_a_sleeping_worker_and_an_old_version_are_told(visit: Visit, db: Db) -> None:
    name = worker(db, "box-a", version="0.0.9")
    db.execute("select qwf.sleep(%s, 'gpu')", (name,))
    page = visit("viewer").text("/fleet")
    assert "1 worker sleeps" in page
    assert "its version is 0.0.9" in page


def test_a_box_has_a_page_with_what_runs_and_what_failed_there(visit: Visit, db: Db) -> None:
    here, there = worker(db, "box-a"), worker(db, "box-b")
    failed, elsewhere = running(db, here), running(db, there)
    for job in (failed, elsewhere):
        token = one(db, "select token from qwf.jobs where id = %s", job)
        db.execute("select qwf.finish(%s, %s, 'fatal', null, 'out of paper')", (job, token))
    runs = running(db, here)
    page = visit("operator").text("/fleet/box-a")
    assert f'id="job-{runs}"' in page
    assert f'id="failed-{failed}"' in page
    assert f'id="failed-{elsewhere}"' not in page
    assert "out of paper" in page
    assert here in page
    assert there not in page
    assert f'name="job_id" value="{failed}"' in page


@pytest.mark.parametrize("host", ["a/b", "box ä", "<b>x</b>", "x?y#z"])
def test_a_box_of_any_name_has_a_page(visit: Visit, db: Db, host: str) -> None:
    worker(db, host)
    viewer = visit("viewer")
    fleet = viewer.text("/fleet")
    address = fleet.partition('id="box-')[2].partition('href="')[2].partition('"')[0]
    page = viewer.text(address.replace("&#39;", "'"))
    assert "<h1>" in page
    assert "<b>x</b>" not in page


@pytest.mark.parametrize("path", ["/fleet/nobody", "/fleet/" + "x" * 3000])
def test_a_box_that_is_not_there_is_said(visit: Visit, path: str) -> None:
    answer = visit("viewer").get(path)
    assert (answer.status_code, "no box is called" in answer.text) == (404, True)


def test_a_box_that_left_only_its_history_has_its_page(visit: Visit, db: Db) -> None:
    db.execute(
        "insert into qwf.host_minutes (host, minute, samples, cpu_percent)"
        " values ('gone', now() - interval '2 h', 12, 50)"
    )
    page = visit("viewer").text("/fleet/gone?span=24h")
    assert "No worker lives there, and no sample came in the last minute." in page
    assert "Processors" in page


def test_the_load_of_a_box_is_sent_for_each_span(visit: Visit, db: Db) -> None:
    for host in ("box-a", "box-b"):
        card = {"vram_used_mb": 1024, "vram_total_mb": 2048}
        measure(db, host, gpus=[{"use_pct": 10, **card}, {"use_pct": 30, **card}])
    db.execute(
        "insert into qwf.host_minutes (host, minute, samples, cpu_percent, cpu_percent_max)"
        " select 'box-a', date_bin('1 min', now(), 'epoch') - n * interval '1 min', 12, n, 2 * n"
        " from generate_series(1, 30) n"
        " union all"  # and, after a gap, the same on the day before yesterday
        " select 'box-a', date_bin('1 min', now(), 'epoch') - interval '2 days', 12, 7, 8"
    )
    viewer = visit("viewer")
    live = viewer.get("/history/hosts?host=box-a&span=10m").json()
    assert live["lines"]["cpu"] == [40]
    assert live["lines"]["gpu"] == [20]
    assert live["lines"]["vram"] == [2]
    day = viewer.get("/history/hosts?host=box-a&span=24h").json()
    assert max(filter(None, day["lines"]["cpu_max"])) == 60
    assert 6 <= len(day["at"]) <= 7  # half an hour, a point for five minutes
    weeks = viewer.get("/history/hosts?host=box-a&span=14d").json()["lines"]["cpu"]
    assert weeks[:2] == [7, None]  # the line is broken where nobody measured
    assert "Processors" in viewer.text("/fleet/box-a?span=24h")
    assert viewer.get("/history/hosts?host=box-a&span=9y").status_code == 404
    assert viewer.get("/fleet/box-a?span=9y").status_code == 404
    assert viewer.get("/history/hosts?host=nobody&span=24h").json()["at"] == []


def test_a_stranger_gets_no_history(visit: Visit) -> None:
    assert visit("stranger").get("/history/hosts?host=box-a").status_code in (401, 403)


def test_whatever_agents_send_the_pages_show(visit: Visit, db: Db) -> None:
    poison.fill(db)
    name = worker(db, poison.STRANGE[:200].replace("\x00", ""))
    strange = [None, 7, [], {}, {"model": {}}, {"model": poison.STRANGE}]
    late = [{"model": "m", "card": {}, "busy": [], "warm_s": 10**400, "idle_s": "x"}]
    for models in (None, 7, "x", strange, late):
        stats = {"models": models, "model_loads": models, "swaps_avoided": "x", "model_load_s": []}
        db.execute("select qwf.heartbeat(%s, stats => %s)", (name, Jsonb(stats)))
        assert "<h1>Fleet</h1>" in visit("admin").text("/fleet")
    page = visit("admin").text("/fleet/box-a")
    assert "\x1b" not in page
    assert "\u202e" not in page
    history = visit("admin").get("/history/hosts?host=box-a&span=10m")
    assert json.loads(history.text)["lines"]["cpu"] == [43]


def test_a_box_is_switched_off_and_on_with_all_the_queues_that_are_ticked(
    visit: Visit, db: Db
) -> None:
    for queue in ("cpu", "gpu", "llm"):
        worker(db, "box-a", queue)
    admin = visit("admin")
    page = admin.text("/fleet")
    sheet = page[page.index('id="act-worker_control-box-a-off-hard"') :].partition("</form>")[0]
    assert re.findall(r'name="queue" value="(\w+)" checked', sheet) == ["cpu", "gpu", "llm"]
    off = {"host": "box-a", "state": "off", "policy": "hard", "queue": ["cpu", "llm"]}
    assert "cpu, llm on box-a is off" in admin.do("worker_control", **off).text
    stopped = "select queue from qwf.switched_off where host = 'box-a' order by queue"
    assert db.execute(stopped).fetchall() == [("cpu",), ("llm",)]
    assert "Switch box-a on" in admin.text("/fleet")
    answer = admin.do("worker_control", host="box-a", state="on")
    assert (answer.status_code, "tick queues first" in answer.text) == (400, True)
    admin.do("worker_control", host="box-a", state="on", queue=["cpu", "llm"])
    assert db.execute(stopped).fetchall() == []

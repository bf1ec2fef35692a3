"""Faults of every kind. A fault takes its dice and returns what it hit; one that lasts also
returns how it is mended. Its dice name a box and a length; which of the processes of the box it
hits depends on what runs then."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from support.chaos.load import SETTINGS, Client
from support.chaos.place import BOXES, PATIENCE_S, QUEUES, Box, Place
from support.disks import fill
from support.proxy import Proxy

Mend = Callable[[], None]
SESSIONS = "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> %s"
TABLES = ("jobs", "runs", "outbox", "workers", "job_attempts", "limit_slots", "queues")
DEADLY = """
select qwf.enqueue('killer', queue => 'default', priority => 10, labels => %s,
  max_attempts => 10000) as id
from generate_series(1, 2)
"""
CLOCK = """
create or replace function qwf.now() returns timestamptz
language sql volatile
as {}
"""


class Struck(NamedTuple):
    """Target of a fault. `mend` is called after `lasts_s` seconds."""

    whom: str
    mend: Mend | None = None
    lasts_s: float = 0.0


class Scene(NamedTuple):
    """Targets of faults, and the dice of one fault."""

    place: Place
    clients: list[Client]
    dice: random.Random

    def box(self) -> Box:
        return self.place.boxes[self.dice.choice(list(BOXES))]

    def network(self) -> tuple[str, Proxy]:
        """The network of a box, or of somebody who asks."""
        networks = [(box.name, box.proxy) for box in self.place.boxes.values()]
        networks += [(client.name, client.proxy) for client in self.clients]
        return self.dice.choice(networks)


Fault = Callable[[Scene], Struck | None]  # None: there was nothing to hit


def kill_agent(scene: Scene) -> Struck:
    box = scene.box()
    box.told_to_end = True
    box.agent.signal(signal.SIGKILL)
    return Struck(f"{box.name}, process {box.agent.pid}")


def drain_agent(scene: Scene) -> Struck:
    box = scene.box()
    box.told_to_end = True
    box.agent.signal(signal.SIGTERM)
    return Struck(f"{box.name}, process {box.agent.pid}")


def stop_agent(scene: Scene) -> Struck:
    """SIGSTOP, mostly for longer than a lease: it wakes up as a zombie."""
    box, lasts = scene.box(), scene.dice.uniform(1.0, 6.0)
    agent = box.agent
    agent.signal(signal.SIGSTOP)
    whom = f"{box.name}, process {agent.pid}, for {lasts:.1f} s"
    return Struck(whom, lambda: agent.signal(signal.SIGCONT), lasts)


def kill_child(scene: Scene) -> Struck | None:
    return _hit_child(scene, signal.SIGKILL)


def stop_child(scene: Scene) -> Struck | None:
    """SIGSTOP of a child: its body runs into the timeout."""
    return _hit_child(scene, signal.SIGSTOP)


def deadly_task(scene: Scene) -> Struck:
    """A task kills its process on every box, until it is mended and a person lets it go on."""
    place, lasts = scene.place, scene.dice.uniform(3.0, 6.0)
    deadly, label = place.home / "kill", f"deadly {scene.dice.getrandbits(32):x}"
    deadly.touch()
    jobs = [row["id"] for row in place.ask(DEADLY, json.dumps({"made": label}))]
    for job in jobs:
        place.note("acknowledged", kind="job", id=job, key=None, task="killer", label=label)
    place.note("deadly", jobs=jobs)

    def mend() -> None:
        deadly.unlink()
        place.resume_tasks()

    return Struck(f"jobs {jobs}, for {lasts:.1f} s", mend, lasts)


def _hit_child(scene: Scene, number: int) -> Struck | None:
    box = scene.box()
    with contextlib.suppress(OSError):
        children = box.agent.children()
        if children:
            pid = scene.dice.choice(children)
            os.kill(pid, number)
            return Struck(f"{box.name}, child {pid}")
    return None


def kill_helper(scene: Scene) -> Struck | None:
    """kill -9 of the guardian or the sampler of an agent."""
    box = scene.box()
    with contextlib.suppress(OSError):
        for name in scene.dice.sample(["qwf-guardian", "qwf-sampler"], 2):
            for pid in box.agent.processes(name):
                os.kill(pid, signal.SIGKILL)
                return Struck(f"{box.name}, {name} {pid}")
    return None


def cut_connections(scene: Scene) -> Struck:
    name, proxy = scene.network()
    return Struck(f"{name}, {proxy.cut()} connections")


def freeze_connections(scene: Scene) -> Struck:
    """The connections there are carry nothing any more, and nobody is told; new ones work."""
    name, proxy = scene.network()
    frozen, lasts = proxy.freeze(), scene.dice.uniform(2.0, 14.0)

    def mend() -> None:
        proxy.cut(frozen_only=True)

    return Struck(f"{name}, {frozen} connections, for {lasts:.1f} s", mend, lasts)


def black_hole(scene: Scene) -> Struck:
    """No connection carries anything, new ones neither: the cable is cut."""
    name, proxy = scene.network()
    proxy.dark, lasts = True, scene.dice.uniform(1.0, 6.0)
    proxy.freeze()

    def mend() -> None:
        proxy.dark = False
        proxy.cut(frozen_only=True)

    return Struck(f"{name}, for {lasts:.1f} s", mend, lasts)


def slow_network(scene: Scene) -> Struck:
    name, proxy = scene.network()
    proxy.delay_s, lasts = scene.dice.uniform(0.02, 0.2), scene.dice.uniform(1.0, 5.0)

    def mend() -> None:
        proxy.delay_s = 0.0

    return Struck(f"{name}, {proxy.delay_s * 1000:.0f} ms, for {lasts:.1f} s", mend, lasts)


def end_sessions(scene: Scene) -> Struck | None:
    return _hit_sessions(scene, "pg_terminate_backend")


def cancel_statements(scene: Scene) -> Struck | None:
    """Cancel the statements that run at this moment, as by a statement timeout; a few times."""
    struck = None
    for _ in range(5):
        struck = _hit_sessions(scene, "pg_cancel_backend", everybody=True) or struck
        time.sleep(0.02)
    return struck


def _hit_sessions(scene: Scene, how: str, everybody: bool = False) -> Struck | None:
    with contextlib.suppress(psycopg.Error), scene.place.session() as conn:
        pids = [row["pid"] for row in conn.execute(SESSIONS, (conn.info.backend_pid,))]
        hit = pids if everybody else scene.dice.sample(pids, min(len(pids), 2))
        for pid in hit:
            conn.execute(f"select {how}(%s)", (pid,))
        return Struck(f"{len(hit)} sessions of {len(pids)}")
    return None


def stop_backend(scene: Scene) -> Struck | None:
    """SIGSTOP of a process of the server, with all locks that it holds."""
    pid, lasts = _backend(scene), scene.dice.uniform(1.0, 5.0)
    if pid is None:
        return None
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:  # its session has ended since
        return None

    def mend() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    return Struck(f"backend {pid}, for {lasts:.1f} s", mend, lasts)


def kill_backend(scene: Scene) -> Struck | None:
    """kill -9 of a process of the server: it ends all others and recovers."""
    pid = _backend(scene)
    if pid is None:
        return None
    with _crash(scene.place), contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        _until_it_answers(scene.place)
    return Struck(f"backend {pid}")


def _backend(scene: Scene) -> int | None:
    with contextlib.suppress(psycopg.Error), scene.place.session() as conn:
        pids = [row["pid"] for row in conn.execute(SESSIONS, (conn.info.backend_pid,))]
        return scene.dice.choice(pids) if pids else None
    return None


def restart_server(scene: Scene) -> Struck:
    """As pg_ctl restart -m immediate."""
    with _crash(scene.place):
        scene.place.server.stop_immediate()
        _start_server(scene.place)
    return Struck("Postgres")


def kill_postmaster(scene: Scene) -> Struck:
    cluster = scene.place.server.cluster
    assert cluster is not None
    process = cluster.postmaster()
    with _crash(scene.place):
        if process is not None:
            process.kill()
        _start_server(scene.place)
    return Struck(f"Postgres, process {process.pid if process else None}")


@contextlib.contextmanager
def _crash(place: Place) -> Iterator[None]:
    """The time in which commits that nobody waited for may be lost."""
    began = time.monotonic()
    yield
    place.crashes.append((began, time.monotonic()))


def _start_server(place: Place) -> None:
    """Start it, whatever is left of the one before."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            place.server.start()
            break
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    _until_it_answers(place)


def _until_it_answers(place: Place) -> None:
    place.ask("select 1")


def fill_server_disk(scene: Scene) -> Struck | None:
    """The disk of the data is full. A server that stops for it is started again afterwards."""
    disk, lasts = scene.place.data_disk, scene.dice.uniform(0.5, 2.5)
    if disk is None:
        return None
    began, filler = time.monotonic(), fill(disk)

    def mend() -> None:
        filler.unlink()
        _start_server(scene.place)
        scene.place.crashes.append((began, time.monotonic()))

    return Struck(f"Postgres, for {lasts:.1f} s", mend, lasts)


def fill_outputs(scene: Scene) -> Struck | None:
    """The disk of the outputs is full; without root, children may write no file instead."""
    lasts = scene.dice.uniform(0.5, 3.0)
    if scene.place.out_disk is not None:
        filler = fill(scene.place.out_disk)
        return Struck(f"the disk of the outputs, for {lasts:.1f} s", filler.unlink, lasts)
    children = [pid for box in scene.place.boxes.values() for pid in _children(box)]
    for pid in children:
        _limit_files(pid, 1024)
    return Struck(
        f"files of {len(children)} children, at most 1 KiB, for {lasts:.1f} s",
        lambda: [_limit_files(pid, resource.RLIM_INFINITY) for pid in children] and None, lasts,
    )  # fmt: skip


def _children(box: Box) -> list[int]:
    with contextlib.suppress(OSError):
        return box.agent.children()
    return []


def _limit_files(pid: int, size: int) -> None:
    """The longest file that a process may write."""
    with contextlib.suppress(OSError, ValueError):
        hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def step_clock(scene: Scene) -> Struck:
    """The clock of the server steps, forwards by more than a lease or backwards, and later back.
    It is the clock of the engine, qwf.now(), which is replaced: other processes keep theirs."""
    by, lasts = scene.dice.choice([-6, -2, 2, 6]), scene.dice.uniform(1.0, 5.0)
    _set_clock(scene.place, by)
    whom = f"the server, by {by:+} s, for {lasts:.1f} s"
    return Struck(whom, lambda: _set_clock(scene.place, 0), lasts)


def _set_clock(place: Place, offset_s: int) -> None:
    body = sql.Literal(f"select pg_catalog.clock_timestamp() + interval '{offset_s} s'")
    place.ask(sql.SQL(CLOCK).format(body))


def switch_off(scene: Scene) -> Struck:
    (host, queue), lasts = scene.dice.choice(QUEUES), scene.dice.uniform(0.5, 4.0)
    policy = scene.dice.choice(["hard", "drain", "pause"])
    call = "select qwf.worker_control(%s, %s, %s, %s)"
    scene.place.ask(call, host, queue, "off", policy)

    def mend() -> None:
        scene.place.ask(call, host, queue, "on", policy)

    return Struck(f"{queue} of {host}, {policy}, for {lasts:.1f} s", mend, lasts)


def pause_queue(scene: Scene) -> Struck:
    queue, lasts = scene.dice.choice(["cpu", "default"]), scene.dice.uniform(0.5, 3.0)
    scene.place.ask("select qwf.pause_queue(%s)", queue)

    def mend() -> None:
        scene.place.ask("select qwf.resume_queue(%s)", queue)

    return Struck(f"{queue}, for {lasts:.1f} s", mend, lasts)


def change_settings(scene: Scene) -> Struck:
    name, value = scene.dice.choice(
        [("lease", "1.5 s"), ("lease", "8 s"), ("heartbeat", "0.3 s"), ("poll", "3 s"),
         ("tick", "2 s"), ("timeout", "1 s"), ("worker_stale", "2 s")]
    )  # fmt: skip
    lasts = scene.dice.uniform(1.0, 5.0)
    call = "select qwf.change_settings(%s)"
    scene.place.ask(call, json.dumps({name: value}))

    def mend() -> None:
        scene.place.ask(call, json.dumps({name: SETTINGS[name]}))

    return Struck(f"{name} = {value}, for {lasts:.1f} s", mend, lasts)


def time_out_statements(scene: Scene) -> Struck:
    """Statements of all sessions end after a few milliseconds."""
    limit_ms, lasts = scene.dice.choice([2, 5, 20]), scene.dice.uniform(0.3, 2.0)
    scene.place.ask(f"alter system set statement_timeout = {limit_ms}")
    scene.place.ask("select pg_reload_conf()")

    def mend() -> None:
        scene.place.ask("alter system reset statement_timeout")
        scene.place.ask("select pg_reload_conf()")

    return Struck(f"everybody, after {limit_ms} ms, for {lasts:.1f} s", mend, lasts)


def lock_table(scene: Scene) -> Struck | None:
    """Somebody holds a lock on a hot table and does nothing."""
    table, lasts = scene.dice.choice(TABLES), scene.dice.uniform(0.5, 4.0)
    mode = scene.dice.choice(["share row exclusive", "access exclusive"])
    try:
        conn = scene.place.session()
        conn.execute("set lock_timeout = '10s'")
        conn.execute("begin")
        conn.execute(f"lock table qwf.{table} in {mode} mode")
    except psycopg.Error:
        return None
    return Struck(f"qwf.{table}, {mode}, for {lasts:.1f} s", conn.close, lasts)


def forge_report(scene: Scene) -> Struck | None:
    """A worker claims a job, falls asleep until another one runs it, and reports it then."""
    name = f"sleeper-{scene.dice.getrandbits(32):x}"
    with contextlib.suppress(psycopg.Error), scene.place.session(patience_s=2.0) as conn:
        query = "select job_id, token from qwf.claim('default', %s, 2, '1 s')"
        held = conn.execute(query, (name,)).fetchall()
        scene.place.note("forged", what="claimed", by=name, jobs=[row["job_id"] for row in held])
        for row in held:
            threading.Thread(
                target=_report_late, args=(scene.place, row["job_id"], row["token"]), daemon=True
            ).start()
        return Struck(f"jobs {[row['job_id'] for row in held]}") if held else None
    return None


def _report_late(place: Place, job: int, token: Any) -> None:
    """Report once another worker runs the job, or once it has ended."""
    look = "select status::text, token from qwf.jobs where id = %s"
    report = """
    select qwf.finish(%s, %s, 'completed', '{"mark": "forged"}') as verdict,
      qwf.finish(%s, %s, 'lost', error => 'forged') as again
    """
    while not place.over.is_set():
        with contextlib.suppress(psycopg.Error), place.session() as conn:
            (now,) = conn.execute(look, (job,)).fetchall() or [None]
            if now is None:
                return
            if now["token"] != token and (now["status"] == "running" or _is_over(now["status"])):
                (row,) = conn.execute(report, (job, token, job, token)).fetchall()
                if row["verdict"] != "lost":
                    place.wrong.append(f"a late report about job {job} was answered {row}")
                return
        place.over.wait(0.05)


def _is_over(status: str) -> bool:
    return status in ("completed", "failed", "cancelled", "skipped")


KINDS: dict[str, Fault] = {
    "agent killed": kill_agent,
    "agent drained": drain_agent,
    "agent stopped": stop_agent,
    "child killed": kill_child,
    "child stopped": stop_child,
    "task deadly": deadly_task,
    "helper killed": kill_helper,
    "connections cut": cut_connections,
    "connections frozen": freeze_connections,
    "cable cut": black_hole,
    "network slow": slow_network,
    "sessions ended": end_sessions,
    "statements cancelled": cancel_statements,
    "statements timed out": time_out_statements,
    "backend stopped": stop_backend,
    "backend killed": kill_backend,
    "server restarted": restart_server,
    "postmaster killed": kill_postmaster,
    "server disk full": fill_server_disk,
    "output disk full": fill_outputs,
    "clock stepped": step_clock,
    "box switched off": switch_off,
    "queue paused": pause_queue,
    "setting changed": change_settings,
    "table locked": lock_table,
    "late report": forge_report,
}

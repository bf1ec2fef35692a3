"""Three nodes with etcd, Patroni and Postgres, and a box in front with HAProxy and PgBouncer."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row

from qwf_agent import migrate
from support.ha.network import DATABASES, FRONT, Network, send, sweep
from support.servers import MEMORY, ROOT

FILES = ROOT / "examples" / "high_availability"
FIRST = "10.77.0.11"  # the address in the files
ACCOUNT = "postgres"
PATH = f"/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:{os.environ.get('PATH', '')}"
PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "patroni": "patroni",
    "patronictl": "patroni",
    "etcd": "etcd-server",
    "haproxy": "haproxy",
    "pgbouncer": "pgbouncer",
}
POSTGRES = Path("/usr/lib/postgresql/15/bin")  # bin_dir of patroni.yml
ENOUGH_BYTES = 2 << 30
PATIENCE_S = 300.0  # for an election on a slow machine
LOGINS = {"app": "qwf_producer", "box_a": "qwf_worker"}
SUPERUSER = "host=127.0.0.1 port=5000 user=postgres password=secret-postgres connect_timeout=3"
WEB = urllib.request.build_opener(urllib.request.ProxyHandler({}))
T = TypeVar("T")


def lacking() -> str | None:
    """Why the cluster cannot be built here; None if it can."""
    missing = sorted({p for name, p in PROGRAMS.items() if shutil.which(name, path=PATH) is None})
    if missing:
        return f"not installed: apt-get install {' '.join(missing)}"
    if not (POSTGRES / "postgres").exists():
        return "not installed: apt-get install postgresql-15"
    if os.getuid() != 0:
        return "only root may make networks and run Postgres as another user"
    probe = Network()
    try:
        probe.build()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"this machine does not let us make networks: {error}"
    finally:
        probe.remove()
    return None


def until(look: Callable[[], T], what: str, patience_s: float = PATIENCE_S) -> T:
    """Call `look` until it returns a true value, and return that."""
    deadline = time.monotonic() + patience_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.1)
    return found


@dataclass
class Cluster:
    """The running cluster. Invariant: every process is in one of its networks."""

    network: Network
    folder: Path
    processes: dict[tuple[str, str], subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self) -> None:
        """Start everything, deploy the schema and create the logins."""
        for box in DATABASES:
            self._install(box)
            self.start_etcd(box)
            self.start_patroni(box)
        self._install(FRONT)
        self.spawn(FRONT, "haproxy", "-db", "-f", str(self.path(FRONT, "etc/haproxy.cfg")))
        self.until_healthy()
        self._deploy()
        self.start_pooler()

    def path(self, box: str, below: str) -> Path:
        """A file or folder of the box; its own root is a folder here."""
        return self.folder / box / below

    def spawn(
        self, box: str, program: str, *arguments: str, user: str | None = None, **environment: str
    ) -> None:
        """Start a program in a box; its output goes to a file."""
        account = [] if user is None else _as(user)
        log = self.path(box, f"{program}.log")
        with log.open("ab") as output:
            self.processes[box, program] = subprocess.Popen(
                [*self.network.inside(box), *account, program, *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.path(box, ""),
                env={"PATH": PATH, "LC_ALL": "C.UTF-8", **environment}, start_new_session=True,
            )  # fmt: skip

    def start_etcd(self, box: str) -> None:
        lines = self.path(box, "etc/etcd").read_text().splitlines()
        pairs = [line.split("=", 1) for line in lines if line.startswith("ETCD_")]
        self.spawn(box, "etcd", user=ACCOUNT, **{name: value.strip('"') for name, value in pairs})

    def start_patroni(self, box: str) -> None:
        self.spawn(box, "patroni", str(self.path(box, "etc/patroni.yml")), user=ACCOUNT)

    def start_pooler(self) -> None:
        self.path(FRONT, "var/run/postgresql/pgbouncer.pid").unlink(missing_ok=True)
        ini = str(self.path(FRONT, "etc/pgbouncer.ini"))
        self.spawn(FRONT, "pgbouncer", "-q", ini, user=ACCOUNT)

    def kill(self, box: str, program: str) -> None:
        process = self.processes.pop((box, program))
        process.kill()
        process.wait()

    def servers(self, box: str) -> list[int]:
        """Pids of Patroni and Postgres on a node: all except etcd."""
        etcd = self.processes[box, "etcd"].pid
        return [pid for pid in self.network.pids(box) if pid != etcd and _is_server(pid)]

    def crash(self, box: str) -> None:
        """kill -9 of Patroni and Postgres."""
        while left := self.servers(box):
            send(left, signal.SIGKILL)
            process = self.processes.get((box, "patroni"))
            if process is not None:
                process.wait()
            time.sleep(0.01)
        self.processes.pop((box, "patroni"), None)

    def postmaster(self, box: str) -> int:
        data = self.path(box, "var/lib/postgresql/15/qwf")
        return int((data / "postmaster.pid").read_text().split()[0])

    def switchover(self, leader: str) -> None:
        config = str(self.path(leader, "etc/patroni.yml"))
        words = ("patronictl", "-c", config, "switchover", "--force", "--master", leader)
        done = subprocess.run(
            [*self.network.inside(FRONT), *words], capture_output=True, text=True,
            env={"PATH": PATH, "LC_ALL": "C.UTF-8"}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def members(self) -> list[dict[str, Any]]:
        """Members as Patroni lists them; none while no node answers."""
        for address in DATABASES.values():
            with contextlib.suppress(OSError, urllib.error.URLError, ValueError):
                with self.network.visit(FRONT):
                    answer = WEB.open(f"http://{address}:8008/cluster", timeout=2)
                    found: dict[str, Any] = json.loads(answer.read())
                return list(found["members"])
        return []

    def leader(self) -> str:
        """The node that leads, once there is one."""

        def look() -> str | None:
            leading = [m for m in self.members() if m["role"] == "leader"]
            return leading[0]["name"] if leading and leading[0]["state"] == "running" else None

        found = until(look, "a leader")
        assert found is not None
        return found

    def until_healthy(self) -> None:
        """Wait until two standbys are synchronous."""

        def look() -> bool:
            with contextlib.suppress(psycopg.Error):
                with self.superuser("postgres") as conn:
                    query = "select count(*) n from pg_stat_replication where sync_state = 'sync'"
                    row = conn.execute(query).fetchone()
                return row is not None and row["n"] == len(DATABASES) - 1
            return False

        until(look, f"two synchronous standbys: {self.folder}")

    @contextlib.contextmanager
    def superuser(self, database: str = "qwf") -> Iterator[psycopg.Connection[DictRow]]:
        """A session on the leader, through HAProxy."""
        address = f"{SUPERUSER} dbname={database}"
        with self.network.visit(FRONT):
            conn = psycopg.connect(address, autocommit=True, row_factory=dict_row)
        with conn:
            yield conn

    def _install(self, box: str) -> None:
        """The files of examples/high_availability as this box has them, with its folder as root."""
        for below in ("etc", "var/lib/etcd", "var/lib/postgresql", "var/run/postgresql",
                      "var/log/postgresql"):  # fmt: skip
            self.path(box, below).mkdir(parents=True)
        for file in FILES.iterdir():
            text = file.read_text(encoding="utf-8")
            if box != FRONT:
                text = "".join(map(_of(box), text.splitlines(keepends=True)))
            for root in ("/etc/pgbouncer/", "/var/"):
                below = root.replace("/etc/pgbouncer/", "/etc/")
                text = text.replace(f" {root}", f" {self.path(box, '')}{below}")
                text = text.replace(f'"{root}', f'"{self.path(box, "")}{below}')
            self.path(box, f"etc/{file.name}").write_text(text, encoding="utf-8")
        users = "".join(f'"{name}" "{secret(name)}"\n' for name in LOGINS)
        self.path(box, "etc/userlist.txt").write_text(users)
        account = pwd.getpwnam(ACCOUNT)
        for path in [self.folder / box, *(self.folder / box).rglob("*")]:
            os.chown(path, account.pw_uid, account.pw_gid)

    def _deploy(self) -> None:
        with self.superuser("postgres") as conn:
            conn.execute("create database qwf")
        with self.network.visit(FRONT):
            migrate.deploy(f"{SUPERUSER} dbname=qwf")
        with self.superuser() as conn:
            for name, role in LOGINS.items():
                conn.execute(f"create role {name} login password '{secret(name)}' in role {role}")


def secret(login: str) -> str:
    return f"secret-{login}"


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that lives as long as the context, whatever happens."""
    sweep()
    network = Network()
    folder = Path(tempfile.mkdtemp(prefix=f"qwfha-{os.getpid()}-", dir=_place()))
    folder.chmod(0o755)
    running = Cluster(network, folder)
    try:
        network.build()
        running.start()
        yield running
    finally:
        network.remove()
        for process in running.processes.values():
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _place() -> Path | None:
    """In memory if there is room: the drill measures elections, not disks."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= ENOUGH_BYTES:
            return MEMORY
    return None


def _of(box: str) -> Callable[[str], str]:
    """Makes a line of db1 one of the box. A line with the addresses of all stays."""
    others = [address for address in DATABASES.values() if address != FIRST]
    return lambda line: (
        line
        if any(other in line for other in others)
        else line.replace(FIRST, DATABASES[box]).replace("db1", box)
    )


def _as(user: str) -> list[str]:
    account = pwd.getpwnam(user)
    who = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"]
    return ["setpriv", *who, "--clear-groups"]


def _is_server(pid: int) -> bool:
    """Patroni or Postgres; not a client that the drill runs on the node."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and ("patroni" in words or "postgres" in words.split(" ")[0])

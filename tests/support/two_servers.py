"""Two servers of different versions, for moves from one to the other."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import make_conninfo

from qwf_agent import embedded, migrate
from support.servers import DEBIAN, ROOT, temporary_folder

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLES = re.compile(r"^(?:\w+=\S+ *)+$(?:#.*)?\n", re.MULTILINE)
TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
# A test of upgrades loses nothing if the machine crashes.
SETTINGS = {"fsync": "off", "shared_buffers": "32MB", "wal_level": "logical"}
DATABASE = "qwf"


def programs(version: int) -> Path:
    """The folder of the binaries of a version: Debian's or the wheel's."""
    debian = DEBIAN / str(version) / "bin"
    return debian if debian.is_dir() else embedded.binaries(version)


def block(holding: str) -> str:
    """The only block of shell of docs/operations.md with this text."""
    (found,) = [text for text in BLOCK.findall(TEXT) if holding in text]
    return str(found)


@dataclass
class Servers:
    """The old server and the new one, and the address by which clients know whichever serves."""

    folder: Path
    old: embedded.Cluster
    new: embedded.Cluster

    @property
    def addresses(self) -> dict[str, str]:
        """Of both servers, as the variables of the document."""
        return {"old": self.at(self.old.data), "new": self.at(self.new.data)}

    @property
    def dsn(self) -> str:
        """Of the server that the address names."""
        return self.at(self.folder / "address")

    def at(self, host: Path) -> str:
        return make_conninfo("", host=str(host), user=embedded.USER, dbname=DATABASE)

    def serves(self, cluster: embedded.Cluster) -> None:
        """Let the address name this server."""
        draft = self.folder / "draft"
        draft.symlink_to(cluster.data)
        draft.replace(self.folder / "address")

    def do(self, text: str, **variables: object) -> None:
        """Run a block of the document as the owner of the servers, with these variables instead of
        those that it sets."""
        given = [f"{name}={shlex.quote(str(value))}\n" for name, value in variables.items()]
        text = "".join([*given, VARIABLES.sub("", text)])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            user=self.folder.stat().st_uid, group=self.folder.stat().st_gid, extra_groups=[],
            cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
            env={"PATH": f"{self.new.bin}:/usr/bin:/bin", "PGHOST": str(self.new.data),
                 "PGUSER": embedded.USER, "PGDATABASE": "postgres", "LC_ALL": "C"},
        )  # fmt: skip
        assert done.returncode == 0, text + done.stdout + done.stderr


@contextlib.contextmanager
def deployed_data(version: int) -> Iterator[Path]:
    """A data directory of this version whose database has the engine; no server runs on it."""
    folder = temporary_folder()
    cluster = embedded.Cluster(programs(version), folder / "data")
    try:
        cluster.create()
        cluster.start(SETTINGS)
        cluster.ensure_database(DATABASE)
        migrate.deploy(cluster.dsn(DATABASE))
        cluster.stop()
        yield cluster.data
    finally:
        cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder)


@contextlib.contextmanager
def two_servers(data: Path, old: int, new: int) -> Iterator[Servers]:
    """A running server of the version `old` on a copy of `data`, and a data directory yet to be
    made for `new`."""
    folder = temporary_folder()
    made = Servers(
        folder,
        embedded.Cluster(programs(old), folder / "old"),
        embedded.Cluster(programs(new), folder / "new"),
    )
    try:
        subprocess.run(["cp", "-a", data, made.old.data], check=True)
        owner = made.old.data.stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        made.old.start(SETTINGS)
        made.serves(made.old)
        yield made
    finally:
        for cluster in (made.old, made.new):
            cluster.stop(signal.SIGQUIT)
        shutil.rmtree(folder)

"""A copy of the sources that a test edits, object by object, wherever they lie."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from qwf_agent import __version__
from qwf_agent.migrate import objects, read_plan
from qwf_agent.migrate.plan import SOURCES
from support.servers import ROOT, Server
from support.tools import tool

NEXT = re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), __version__)  # the version after this one
NEXT_CHANGE = f"releases/{NEXT}"
# For tests of a deploy that stops halfway: once the plan lists releases, each has one script.
before_releases = pytest.mark.skipif(
    read_plan().sources is not read_plan(), reason="the plan lists releases"
)
GIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Test"), ("EMAIL", "test@qwf.invalid"))
}


@dataclass(frozen=True)
class Sources:
    """A folder with the sources and the settings of sqitch, as in a checkout."""

    folder: Path

    @classmethod
    def copied(cls, folder: Path) -> Sources:
        """The sources of this checkout, as before their first release."""
        left_out = shutil.ignore_patterns("tests", "releases", SOURCES)
        shutil.copytree(ROOT / "sql", folder / "sql", ignore=left_out)
        shutil.copy(read_plan().sources.path, folder / "sql" / "sqitch.plan")
        shutil.copy(ROOT / "sqitch.conf", folder / "sqitch.conf")
        return cls(folder)

    def copy(self, folder: Path) -> Sources:
        shutil.copytree(self.folder, folder)
        return Sources(folder)

    @property
    def plan(self) -> Path:
        return self.folder / "sql" / "sqitch.plan"

    def write(self, name: str, text: str) -> None:
        """Write a file under sql."""
        file = self.folder / "sql" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def find(self, key: str) -> Path:
        """The file that makes an object, such as "function qwf.claim"."""
        name = key.split()[-1]
        for change in read_plan(self.plan).sources.changes:
            file, text = change.deploy.path, change.deploy.source()
            if name in text and any(o.makes and o.object == key for o in objects.statements(text)):
                return file
        raise AssertionError(f"no source makes {key}")

    def edit(self, key: str, old: str, new: str) -> Path:
        """Edit the first statement about an object that has this text, and return its file."""
        file = self.find(key)
        text = file.read_text(encoding="utf-8")
        for one in objects.statements(text):
            if one.object == key and old in one.text:
                edited = text.replace(one.text, one.text.replace(old, new, 1), 1)
                file.write_text(edited, encoding="utf-8")
                return file
        raise AssertionError(f"{file}: {key} has no {old}")

    def rename(self, key: str, new: str) -> None:
        """Give an object another name in all statements about it: one goes and one comes."""
        file = self.find(key)
        text = file.read_text(encoding="utf-8")
        for one in objects.statements(text):
            if one.object == key:
                name = key.rpartition(".")[2]
                text = text.replace(one.text, one.text.replace(name, new))
        file.write_text(text, encoding="utf-8")

    def append(self, key: str, text: str) -> None:
        """Add statements behind the one that makes an object."""
        file = self.find(key)
        made = next(o for o in objects.statements(file.read_text("utf-8")) if o.object == key)
        file.write_text(file.read_text("utf-8").replace(made.text, f"{made.text}\n\n{text}", 1))

    def release(self, server: Server, version: str, *, yes: bool = False) -> list[str]:
        """Write a release, and tag it; returns what the tool says."""
        said: list[str] = tool("release").release(self.folder, version, server, yes=yes)
        if not (self.folder / ".git").exists():
            self._git("init", "--quiet")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", f"Release {version}")
        self._git("tag", f"v{version}")
        return said

    def _git(self, *words: str) -> None:
        subprocess.run(
            ["git", "-C", str(self.folder), *words],
            env={**os.environ, **GIT}, check=True, capture_output=True,
        )  # fmt: skip

    def change(self) -> None:
        """Make the changes of the next release: a body, a signature, a function less and one more,
        a view with a column in its middle, a column, a type and an index."""
        self.edit("function qwf.version", f"select '{__version__}'", f"select '{NEXT}'")
        self.edit(
            "function qwf.enqueue", ")\nreturns bigint", ", note text default '')\nreturns bigint"
        )
        self.edit("function _qwf.as_number", ") returns", ", p_more int default 6) returns")
        self.rename("function qwf.worker_alive", "worker_lives")
        self.edit("view qwf.switched_off", "c.queue,", "c.queue, c.desired_state as state,")
        self.append("view qwf.switched_off", "comment on column qwf.switched_off.state is 'Off.';")
        self.edit("table qwf.jobs", "\n) with", ",\n  note text\n) with")
        self.append("table qwf.jobs", "comment on column qwf.jobs.note is 'What is noted.';")
        self.append("table qwf.jobs", "create index jobs_noted on qwf.jobs (id);")
        self.edit("type qwf.claimed_job", ");", ", note text);")
        claimed = self.find("function qwf.claim").read_text(encoding="utf-8")
        last = re.search(r"j\.queued_at\)::float8.*;", claimed)
        assert last
        self.edit("function qwf.claim", last[0], f"{last[0][:-1]}, j.note;")
        self.write(
            "releases/next.sql",
            "alter table qwf.jobs add column note text;\n"
            "alter type qwf.claimed_job add attribute note text;\n",
        )
        self.write(
            "releases/next.revert.sql",
            "alter type qwf.claimed_job drop attribute note;\n"
            "alter table qwf.jobs drop column note;\n",
        )

"""A copy of the sources that a test edits, object by object, wherever they lie."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from qwf_agent.migrate import objects
from support.servers import ROOT


@dataclass(frozen=True)
class Sources:
    """A folder with the sources and the settings of sqitch, as in a checkout."""

    folder: Path

    @classmethod
    def copied(cls, folder: Path) -> Sources:
        """The sources of this checkout, without their tests."""
        shutil.copytree(ROOT / "sql", folder / "sql", ignore=shutil.ignore_patterns("tests"))
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
        for file in sorted((self.folder / "sql").rglob("*.sql")):
            text = file.read_text(encoding="utf-8")
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

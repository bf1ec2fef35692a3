"""Whose files a body finds in its folder: never those of another job."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import PermanentError
from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import FolderMark, moment
from qwf_agent.child import own_folder
from qwf_agent.child.out_folder import Folder, folder_of
from qwf_agent.child.own_folder import Moved, mark_again, take

NOON = "2026-11-24T12:00:00.000000Z"
JOB = FolderMark("3f2a9c01-aaaa", 1, None, NOON, 15, None, 1, 100.0, "aa11")
NODE = JOB._replace(run_id=7, node_id="s/n")
OTHERS = {
    "another job with the id": {"created_at": "2026-11-20T12:00:00.000000Z"},
    "another database": {"instance": "99999999-bbbb"},
    "the job before a restore": {"generation": 2, "attempt": 2},
    "the attempt before a restore": {"attempt": 1, "marked_at": 200.0},
    "the same job with other inputs": {"attempt": 2, "inputs": "bb22"},
}


class Place:
    """An out-root, and what was moved aside in it."""

    def __init__(self, root: Path, out_dir: str | None = None) -> None:
        self.root, self.out_dir = root, out_dir
        self.moved: list[Moved] = []

    def folder(self, mark: FolderMark) -> Folder:
        return folder_of(mark.job_id or 0, mark.run_id, mark.node_id, self.out_dir, self.root)

    def take(self, mark: FolderMark) -> Path:
        folder = self.folder(mark)
        return take(folder, mark, folder.base.is_relative_to(self.root), self.moved.append)

    def mark(self, folder: Path) -> FolderMark | None:
        return folder_mark.read((folder / folder_mark.NAME).read_bytes())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "out")


@pytest.mark.parametrize("mark", [JOB, NODE], ids=["a job", "a node"])
def test_the_next_attempt_finds_the_files_of_the_one_before(place: Place, mark: FolderMark) -> None:
    out = place.take(mark)
    (out / "checkpoint").write_text("half")
    again = place.take(mark._replace(attempt=2, marked_at=200.0))
    assert (again / "checkpoint").read_text() == "half"
    assert place.moved == []
    found = place.mark(out)
    assert found is not None
    assert found.attempt == 2
    assert place.folder(mark).files()[0]["rel_path"].endswith("checkpoint")
    assert len(place.folder(mark).files()) == 1, "the mark is not one of the files"


@pytest.mark.parametrize("mark", [JOB, NODE], ids=["a job", "a node"])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_files_of_others_are_moved_aside(
    place: Place, mark: FolderMark, other: dict[str, object]
) -> None:
    (place.take(mark) / "secret").write_text("theirs")
    out = place.take(mark._replace(**other))
    assert not (out / "secret").exists()
    [moved] = place.moved
    [kept] = Path(moved.moved_to).rglob("secret")
    assert kept.read_text() == "theirs"
    assert ".before-" in moved.moved_to
    assert mark.instance[:8] in moved.sentence()


def test_two_moves_of_a_day_have_two_names(place: Place) -> None:
    for day in range(20, 24):
        (place.take(JOB._replace(created_at=f"2026-11-{day}T12:00:00.000000Z")) / "f").touch()
    assert len({moved.moved_to for moved in place.moved}) == len(place.moved) == 3
    assert all((Path(moved.moved_to) / "f").exists() for moved in place.moved)


def test_a_restore_keeps_the_files_of_nodes_that_had_ended(place: Place) -> None:
    """The other nodes of the run may read them."""
    done = place.take(NODE._replace(job_id=14, node_id="s/done"))
    (done / "result").touch()
    place.take(NODE._replace(generation=2))
    assert (done / "result").exists()
    assert place.moved == []


def test_a_worker_that_has_lost_its_job_moves_nothing(place: Place) -> None:
    out = place.take(JOB._replace(attempt=2, marked_at=200.0))
    (out / "file").touch()
    assert place.take(JOB) == out
    assert (out / "file").exists()
    found = place.mark(out)
    assert found is not None
    assert found.attempt == 2


def test_what_has_no_mark_is_moved_aside_below_the_out_root(place: Place) -> None:
    folder = place.folder(JOB).path
    folder.mkdir(parents=True)
    (folder / "file").touch()
    assert not (place.take(JOB) / "file").exists()
    assert "no mark" in place.moved[0].sentence()


def test_files_of_a_person_in_an_out_dir_stay(place: Place, tmp_path: Path) -> None:
    """A run 2026 and the pictures of 2026."""
    place.out_dir = str(tmp_path / "archive")
    mark = NODE._replace(run_id=2026)
    pictures = tmp_path / "archive" / "2026"
    pictures.mkdir(parents=True)
    (pictures / "picture").touch()
    assert place.take(mark) == pictures / "s" / "n"
    assert (pictures / "picture").exists()
    assert not (pictures / folder_mark.NAME).exists(), "else a later run would move it aside"
    assert place.moved == []


def test_a_run_of_another_database_keeps_its_folder_in_an_out_dir(
    place: Place, tmp_path: Path
) -> None:
    place.out_dir = str(tmp_path / "shared")
    out = place.take(NODE)
    with pytest.raises(PermanentError, match=r"run 7 of .* database 3f2a9c01.*another out_dir"):
        place.take(NODE._replace(instance="99999999-bbbb"))
    assert out.is_dir()
    place.take(NODE._replace(created_at=moment("2026-11-25 12:00:00+00")))
    assert len(place.moved) == 1, "of the same database: nobody else uses it"


def test_what_another_node_of_the_run_left_is_not_moved(place: Place) -> None:
    sibling = place.take(NODE._replace(job_id=14, node_id="s/first"))
    (sibling.parent / "n").mkdir()
    (sibling.parent / "n" / "handed over").touch()
    assert (place.take(NODE) / "handed over").exists()


def test_a_mark_that_was_removed_is_put_back(place: Place) -> None:
    out = place.take(JOB)
    (out / folder_mark.NAME).unlink()
    mark_again(out, JOB)
    assert place.mark(out) == JOB


def test_a_folder_that_cannot_be_moved_is_not_used(place: Place) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may move every folder")
    place.take(JOB)
    place.folder(JOB).path.parent.chmod(0o500)
    with pytest.raises((PermanentError, PermissionError)):
        place.take(JOB._replace(created_at="2026-11-20T12:00:00.000000Z"))


def _take_node(root: Path, number: int) -> int:
    """Take the folder of a node, as an agent of another box does; returns how much it moved."""
    place = Place(root)
    mark = NODE._replace(created_at=moment("2026-11-25 12:00:00+00"), job_id=number)
    out = place.take(mark._replace(node_id=f"s/{number}"))
    (out / "file").touch()
    return len(place.moved)


def test_boxes_that_move_one_folder_at_once_lose_nothing(place: Place) -> None:
    for _ in range(10):
        (place.take(NODE) / "theirs").touch()
        with multiprocessing.get_context("fork").Pool(8) as pool:
            moved = pool.starmap(_take_node, [(place.root, number) for number in range(16)])
        assert sum(moved) == 1
        run = place.root / "7"
        assert len(list((run / "s").glob("*/file"))) == 16
        assert not (run / "s" / "n").exists()
        run.rename(place.root / f"done-{time.time_ns()}")


@pytest.mark.parametrize("mark", [JOB, NODE], ids=["a job", "a node"])
def test_a_folder_without_a_mark_that_another_box_moves_first_is_made_anew(
    place: Place, mark: FolderMark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other box has moved it, and has not made the new one."""
    base = place.folder(mark).base
    (base / "sub").mkdir(parents=True)
    aside = base.with_name("moved by another")

    @contextlib.contextmanager
    def lock(_: Path) -> Iterator[None]:
        base.rename(aside)
        yield

    monkeypatch.setattr(own_folder, "_lock", lock)
    assert place.take(mark).is_dir()
    assert (aside / "sub").is_dir()
    assert place.moved == []


def test_a_folder_that_another_box_moves_while_it_is_looked_at_is_made_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = place.folder(JOB).base
    base.mkdir(parents=True)
    look = Path.stat

    def moved_after(path: Path, **options: Any) -> os.stat_result:
        found = look(path, **options)
        if path == base:
            monkeypatch.undo()
            base.rename(base.with_name("moved by another"))
        return found

    monkeypatch.setattr(Path, "stat", moved_after)
    assert place.take(JOB) == base
    assert place.mark(base) == JOB


def test_a_link_to_nothing_is_said_to_be_no_folder(place: Place) -> None:
    base = place.folder(JOB).base
    base.parent.mkdir(parents=True)
    base.symlink_to("nowhere")
    with pytest.raises(NotADirectoryError):
        place.take(JOB)


def test_a_mark_that_was_half_written_is_not_one_of_the_files(place: Place) -> None:
    out = place.take(JOB)
    (out / f"{folder_mark.NAME}.0123abcd").write_text("{")
    assert place.folder(JOB).files() == []
    assert place.take(JOB._replace(attempt=2)) == out


@pytest.mark.parametrize(
    "text", ["2026-11-24 12:00:00+00", "2026-11-24 17:30:00+05:30", "2026-11-24T12:00:00+00:00"]
)
def test_a_time_reads_alike_in_every_time_zone(text: str) -> None:
    assert moment(text) == NOON


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"instance": 1}', b"\xff", b"[" * 9999]
)
def test_what_is_no_mark_is_none(data: bytes) -> None:
    assert folder_mark.read(data) is None

"""Where a body writes, and which of its files are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from qwf_agent import PermanentError
from qwf_agent.child import out_folder
from qwf_agent.child.out_folder import Folder, folder_of
from support.harness import Database, StartAgent

ROOT = Path("/out")


def listed(folder: Path) -> list[str]:
    return [file["rel_path"] for file in Folder(folder, folder).files()]


@pytest.mark.parametrize(
    ("out_dir", "path"),
    [(None, "/out/7/s/n"), ("rel/deep", "/out/rel/deep/7/s/n"), ("/abs", "/abs/7/s/n")],
)
def test_a_relative_out_dir_is_below_the_out_root(out_dir: str | None, path: str) -> None:
    assert folder_of(1, 7, "s/n", out_dir, ROOT).path == Path(path)


@pytest.mark.parametrize("out_dir", ["..", "../../etc", "a/../../b", "/out/../etc"])
def test_an_out_dir_that_climbs_is_refused(out_dir: str) -> None:
    with pytest.raises(PermanentError, match=r"contains '\.\.'.*give an absolute path"):
        folder_of(1, 7, "s/n", out_dir, ROOT)


@pytest.mark.parametrize("out_dir", ["jobs", "./jobs/x", "7", "a/7/b", "/out/2026", "/out/jobs"])
def test_no_run_has_its_folder_in_that_of_another_run_or_job(out_dir: str) -> None:
    with pytest.raises(PermanentError, match=r"those of runs and jobs.* such as day-2026"):
        folder_of(1, 7, "s/n", out_dir, ROOT)


@pytest.mark.parametrize("out_dir", ["day-7", "a/jobs", "/archive/2026", "/jobs"])
def test_other_names_are_free(out_dir: str) -> None:
    assert folder_of(1, 7, "s/n", out_dir, ROOT).base == ROOT / out_dir / "7"


@pytest.mark.parametrize(
    ("folder", "announced"),
    [("out", "out"), ("a/../b c", "b c"), ("two\nlines", None), ("\udce9t\udce9", None)],
    ids=["a folder", "a way round", "two lines", "not UTF-8"],
)
def test_an_agent_announces_its_out_root_and_works_with_any(
    base: Database, start: StartAgent, tmp_path: Path, folder: str, announced: str | None
) -> None:
    """The database refuses a path that nobody could read; the agent then announces none."""
    root = tmp_path / "roots"
    (root / "a").mkdir(parents=True)
    start("--app", "bodies", "--out-root", str(root / folder))
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    expected = None if announced is None else str(root / announced)
    assert base.one("select out_root from qwf.worker_overview") == expected


def test_a_circle_of_links_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "leads nowhere").symlink_to("nothing")
    (tmp_path / "file").write_text("x")
    assert listed(tmp_path) == ["file"]
    said = capsys.readouterr().out.splitlines()
    assert sorted(said) == [
        f"the file '{tmp_path}/{name}' is not listed: Too many levels of symbolic links"
        for name in "ab"
    ]


def test_a_folder_that_became_a_link_is_not_walked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    (tmp_path / "out").symlink_to(elsewhere)
    assert listed(tmp_path / "out") == []
    assert "are not listed: it is a link now" in capsys.readouterr().out


def test_a_folder_that_is_gone_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(tmp_path / "gone") == []
    assert "are not listed: No such file" in capsys.readouterr().out


def test_files_above_the_limit_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_folder, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    assert len(listed(tmp_path)) == 2
    assert "more than 2 files" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["circle", "elsewhere", "gone"])
def test_a_body_that_has_returned_completes_whatever_it_left(shared: Database, what: str) -> None:
    job_id = shared.enqueue("leaving_a_strange_folder", {"what": what})
    job = shared.ended(job_id)
    assert job["status"] == "completed", job["last_error"]
    assert shared.one("select count(*) from qwf.run_files where job_id = %s", job_id) == 0
    [attempt] = shared.attempts(job_id)
    assert "not listed" in attempt["log_tail"]

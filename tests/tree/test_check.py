"""`make check` finds the tests of what changed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.tools import tool

check = tool("check")

FITS = "test_sql[_fits/agrees_with_why_unfit_for-"
CLAIM = "test_sql[claim/is_first_in_first_out_within_a_priority-"


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("sql/tests/claim/is_first_in_first_out_within_a_priority.sql", CLAIM),
        ("sql/functions/claim/claim.sql", CLAIM),
        ("sql/functions/claim/_pick_limited.sql", CLAIM),  # no tests of its own: its callers'
        ("sql/functions/walks/_fits.sql", FITS),
        ("sql/functions/walks/_fits.sql", "_meta/functions_are_short"),
        ("sql/functions/walks/_fits.sql", "tests/tree/test_static.py"),
        ("sql/schema/jobs.sql", "tests/engine/test_pgtap.py"),
        ("sql/schema/jobs.sql", "tests/engine/test_catalogue.py"),
        ("tests/races/test_claim.py", "tests/races/test_claim.py"),
        ("tests/web/conftest.py", "tests/web"),
        ("tests/support/proxy.py", "tests/agent/test_ends.py"),
        ("python/qwf_agent/agent/jitter.py", "tests/agent"),
        ("python/qwf_agent/cli/top/panels.py", "tests/cli/test_top.py"),
        ("python/qwf_agent/web/templates/_job.html", "tests/web/test_job.py"),
        ("python/qwf_agent/migrate/plan.py", "tests/migrate"),
        ("docs/operations.md", "tests/operations/test_operations.py"),
        ("docs/operations.md", f"{check.LINKS}[docs/operations.md]"),
        ("examples/own_migrations/README.md", "tests/migrate/test_own_migrations.py"),
    ],
)
def test_a_change_selects_the_tests_that_are_about_it(path: str, test: str) -> None:
    found = check.tests_of([path])
    assert [name for name in found if test in name], found


def test_a_function_does_not_select_the_tests_of_others() -> None:
    found = check.tests_of(["sql/functions/walks/_fits.sql"])
    assert [name for name in found if "test_sql[claim/" in name] == []


def test_a_folder_is_named_once_and_its_files_are_left_out() -> None:
    assert check.tests_of(["tests/web/test_job.py", "tests/web/conftest.py"]) == ["tests/web"]


def test_a_deleted_test_is_not_selected() -> None:
    assert check.tests_of(["tests/test_gone.py"]) == []


def test_a_word_names_files_of_sql_tests_and_other_words_go_to_pytest() -> None:
    first, *others = check.named(["claim/is_first", "tests/races", "-x"])
    assert CLAIM in first
    assert others == ["tests/races", "-x"]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A repository with one commit, in place of the checkout."""
    monkeypatch.setattr(check, "ROOT", tmp_path)

    def run(*words: str) -> None:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    run("init", "--initial-branch=main")
    (tmp_path / "kept").write_text("1")
    (tmp_path / "moved").write_text("a file that is moved as it is")
    run("add", ".")
    run("commit", "-m", "first")
    return run


def test_what_changed_are_edits_new_files_and_both_names_of_a_moved_one(
    git: Callable[..., None], tmp_path: Path
) -> None:
    assert check.changed(None) == []
    (tmp_path / "kept").write_text("2")
    (tmp_path / "new").write_text("1")
    git("mv", "moved", "there")
    assert check.changed(None) == ["kept", "moved", "new", "there"]


def test_commits_count_from_the_upstream_branch_or_from_the_commit_that_is_named(
    git: Callable[..., None], tmp_path: Path
) -> None:
    git("checkout", "-b", "mine")
    (tmp_path / "kept").write_text("2")
    git("commit", "-am", "second")
    assert check.changed(None) == []
    assert check.changed("main") == ["kept"]
    git("branch", "--set-upstream-to=main")
    assert check.changed(None) == ["kept"]


def test_a_commit_that_does_not_exist_is_refused(git: Callable[..., None]) -> None:
    with pytest.raises(SystemExit, match="git knows no commit nowhere"):
        check.changed("nowhere")

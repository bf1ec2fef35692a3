"""`make check` finds the tests of what changed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.tools import tool

check = tool("check")

FITS = "test_sql[claim/walks/fits_agrees_with_why_unfit_for-"
CLAIM = "test_sql[claim/claim/is_first_in_first_out_within_a_priority-"


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("sql/tests/claim/claim/is_first_in_first_out_within_a_priority.sql", CLAIM),
        ("sql/functions/claim/claim.sql", CLAIM),
        ("sql/functions/claim/special_claim.sql", CLAIM),  # no tests of its own: its callers'
        ("sql/functions/claim/walks.sql", FITS),
        ("sql/functions/claim/walks.sql", "_meta/functions_are_short"),
        ("sql/functions/claim/walks.sql", "tests/tree/test_static.py"),
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
    found = check.tests_of([path], None)
    assert [name for name in found if test in name], found


def test_a_function_selects_its_own_tests_and_not_those_of_others_of_its_file() -> None:
    found = check._tests_of_object("function qwf.finish_and_claim")
    assert [name for name in found if "[claim/claim/finish_and_claim_" in name]
    assert CLAIM not in "".join(found)
    found = check._tests_of_object("function _qwf.fits")
    assert [name for name in found if FITS in name]
    assert [name for name in found if "test_sql[claim/claim/" in name] == []


def test_only_objects_whose_statements_differ_have_changed(
    git: Callable[..., None], tmp_path: Path
) -> None:
    """Not those that lie in another file now, or have another comment above them."""
    first, second = "create table qwf.a ();\n", "create table qwf.b ();\n"
    for name, text in (("one", first), ("two", second)):
        (tmp_path / f"{name}.sql").write_text(text)
    git("add", ".")
    git("commit", "-m", "sources")
    (tmp_path / "one.sql").unlink()
    (tmp_path / "two.sql").write_text(f"-- The second.\n{second}\n{first}")
    paths = ["one.sql", "two.sql"]
    assert check.changed_objects(paths, "HEAD") == set()
    assert check.changed_objects(paths, None) == {"table qwf.a", "table qwf.b"}
    (tmp_path / "two.sql").write_text(f"{second}\n{first}comment on table qwf.a is 'A.';\n")
    assert check.changed_objects(paths, "HEAD") == {"table qwf.a"}


def test_a_folder_is_named_once_and_its_files_are_left_out() -> None:
    assert check.tests_of(["tests/web/test_job.py", "tests/web/conftest.py"], None) == ["tests/web"]


def test_a_deleted_test_is_not_selected() -> None:
    assert check.tests_of(["tests/test_gone.py"], None) == []


def test_a_word_names_files_of_sql_tests_and_other_words_go_to_pytest() -> None:
    first, *others = check.named(["claim/claim/is_first", "tests/races", "-x"])
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

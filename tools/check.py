"""Runs the tests of what changed, or the tests that are named.

`make check` looks at what differs from the upstream branch (or from SINCE), committed or not: of
sources in SQL, at the objects whose statements differ. `make check ARGS=claim/claim/is_first_in`
runs files of sql/tests, `ARGS=tests/races` runs any tests.
`make watch` starts a server that stays, and checks again whenever a file changes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from qwf_agent.migrate import objects

ROOT = Path(__file__).resolve().parents[1]
SQL = ROOT / "sql"
SOURCES = ("schema", "functions", "views", "triggers")
TESTS = ROOT / "tests"
FEW = 5  # so many files or fewer are done before a second process has started its server
POLL_S = 0.5
INTERRUPTED = 2  # exit code of pytest if a test module cannot be imported
PGTAP = "tests/engine/test_pgtap.py"
LINKS = "tests/docs/test_docs.py::test_the_links_of_a_document_lead_to_files_and_headings"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # what git compares a first commit with


# What changed -------------------------------------------------------------------------------------


def changed(since: str | None) -> list[str]:
    """Paths that differ from `since`, new files included. Without it: from the upstream branch, or
    from the last commit if the branch has none."""
    there = _git("diff", "--name-only", "--no-renames", fork(since)).splitlines()
    new = _git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({*there, *new})


def fork(since: str | None) -> str:
    """The commit from which changes count."""
    base = since or _git("rev-parse", "--verify", "--quiet", "@{upstream}").strip() or "HEAD"
    if since and not _git("rev-parse", "--verify", "--quiet", since):
        sys.exit(f"git knows no commit {since}: say SINCE=main, or leave it out")
    return _git("merge-base", base, "HEAD").strip() or EMPTY_TREE


def changed_objects(sources: Iterable[str], base: str | None) -> set[str]:
    """The objects of these sources whose statements differ from those of a commit, wherever these
    lay there; all of them without one."""
    now: dict[str, str] = {}
    before: dict[str, str] = {}
    for path in sources:
        file = ROOT / path
        now |= _objects(file.read_text(encoding="utf-8") if file.is_file() else "")
        before |= _objects(_git("show", f"{base}:{path}")) if base else {}
    return {name for name in {*now, *before} if now.get(name) != before.get(name)}


def _objects(text: str) -> dict[str, str]:
    """The statements about each object, without the lines of comments."""
    found = objects.objects(text)
    return {name: re.sub(r"(?m)^\s*--.*\n?", "", text) for name, text in found.items()}


def _git(*words: str) -> str:
    """The output of git; empty if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)  # noqa: S607
    return done.stdout if done.returncode == 0 else ""


# Which tests are about it -------------------------------------------------------------------------


def tests_of(paths: Iterable[str], base: str | None) -> list[str]:
    """Arguments for pytest: the tests that are about the files, each once; about the objects of
    sources that differ from those of a commit."""
    paths = [*paths]
    found = {test: None for path in paths for test in _tests_of_one(path)}
    sources = [path for path in paths if Path(path).parts[0] == "sql" and _kind(path) in SOURCES]
    for name in sorted(changed_objects(sources, base)):
        found |= dict.fromkeys(_tests_of_object(name))
    folders = [test for test in found if (ROOT / test).is_dir()]
    return [test for test in found if not any(test.startswith(f"{f}/") for f in folders)]


def _tests_of_one(path: str) -> Iterator[str]:
    parts = Path(path).parts
    if parts[0] == "sql":
        yield from _of_sql(path)
    elif parts[0] == "tests":
        yield from _of_test(path)
    elif parts[:2] == ("python", "qwf_agent"):
        yield from _of_python(path)
    else:
        if path.endswith(".md") and (ROOT / path).exists():
            yield f"{LINKS}[{path}]"
        yield from _files("|".join(re.escape(part) for part in parts[1:] or parts))


def _of_sql(path: str) -> Iterator[str]:
    if _kind(path) == "tests":
        rest = path.removeprefix("sql/tests/")
        yield from [PGTAP] if rest.startswith("_support/") else pgtap(rest[:-4])
        return
    yield "tests/tree/test_static.py"
    yield from pgtap("_meta/")


def _kind(path: str) -> str:
    return Path(path).parts[1]


def _tests_of_object(name: str) -> list[str]:
    """The tests of a function; if it has none, those of its nearest callers. All tests of the
    engine for what is not a function."""
    kind, _, function = name.partition(" ")
    if kind != "function":
        return ["tests/engine/test_catalogue.py", PGTAP]
    seen, nearest = {function}, {function}
    while nearest:
        if tests := [test for one in sorted(nearest) for test in _of_function(one)]:
            return tests
        nearest = {name for name, used in _calls().items() if nearest & used} - seen
        seen |= nearest
    return []


def _of_function(function: str) -> list[str]:
    """The tests in the folder of its subject that are named after it, or that call it. Those of the
    function that gives the subject its name are named after no other."""
    folder, name = _subjects().get(function), function.partition(".")[2]
    if folder is None:
        return []
    others = tuple(
        f"{one.partition('.')[2]}_"
        for one, there in _subjects().items()
        if there == folder and one != function
    )
    calls = re.compile(rf"(?<!\w){re.escape(function)}\(")
    return [
        _node(f"{folder}/{file.stem}")
        for file in sorted((SQL / "tests" / folder).glob("*.sql"))
        if file.name.startswith(f"{name}_")
        or (folder.endswith(f"/{name}") and not file.name.startswith(others))
        or calls.search(file.read_text(encoding="utf-8"))
    ]


@cache
def _sources() -> dict[Path, dict[str, str]]:
    files = sorted((SQL / "functions").rglob("*.sql"))
    return {file: objects.objects(file.read_text(encoding="utf-8")) for file in files}


@cache
def _subjects() -> dict[str, str]:
    """The subject of each function: claim/claim of qwf.claim."""
    return {
        name.partition(" ")[2]: str(file.relative_to(SQL / "functions").with_suffix(""))
        for file, found in _sources().items()
        for name in found
        if name.startswith("function ")
    }


@cache
def _calls() -> dict[str, set[str]]:
    """The functions that each function calls."""
    return {
        name.partition(" ")[2]: {*re.findall(r"\b(_?qwf\.\w+)\(", text)}
        for found in _sources().values()
        for name, text in found.items()
        if name.startswith("function ")
    }


def _of_test(path: str) -> Iterator[str]:
    file = Path(path)
    if file.name.startswith("test_") and (ROOT / path).exists():
        yield path
    elif file.parts[1] == "support":
        name = file.stem if file.stem != "__init__" else file.parent.name
        support = r"support(\.\w+)*"
        yield from _files(rf"from {support} import [^\n]*\b{name}\b|{support}\.{name}\b")
    elif len(file.parts) > 2:
        yield str(Path(*file.parts[:2]))


def _of_python(path: str) -> Iterator[str]:
    yield "tests/tree/test_python_rooms.py"
    *rooms, _ = Path(path).relative_to("python/qwf_agent").parts
    stem = Path(path).stem.lstrip("_")
    package = r"\.".join(["qwf_agent", *rooms])
    room = rooms[0] if rooms else ""
    own = _here(f"{room}/test_{stem}*.py") if room else []
    by_name = _files(rf"\b{package}\.{stem}\b|from {package} import (\([^)]*|[^\n]*)\b{stem}\b")
    if own or by_name:
        yield from [*own, *by_name]
    elif room:
        yield from _here(room) or _here(f"test_{room}*.py") or ["tests/agent"]


def _here(pattern: str) -> list[str]:
    return [str(found.relative_to(ROOT)) for found in sorted(TESTS.glob(pattern))]


def _files(pattern: str) -> list[str]:
    """Test modules whose text matches."""
    return [
        str(file.relative_to(ROOT))
        for file in sorted(TESTS.rglob("test_*.py"))
        if re.search(pattern, file.read_text(encoding="utf-8"))
    ]


def pgtap(start: str) -> list[str]:
    """Files of sql/tests whose names begin so, as pytest names them, on the newest server."""
    names = sorted(str(p.relative_to(SQL / "tests"))[:-4] for p in SQL.glob("tests/**/*.sql"))
    return [_node(name) for name in names if name.startswith(start)]


def _node(name: str) -> str:
    server = "given" if os.environ.get("QWF_TEST_DSN") else "18"
    return f"{PGTAP}::test_sql[{name}-{server}]"


def named(words: Iterable[str]) -> list[str]:
    """The words as arguments of pytest: a word may be the beginning of a file of sql/tests."""
    return [found for word in words for found in _named(word)]


def _named(word: str) -> list[str]:
    if word.startswith("-") or (ROOT / word.partition("::")[0]).exists():
        return [word]
    return pgtap(word) or [word]


# Running them -------------------------------------------------------------------------------------


def check(words: list[str], since: str | None) -> int:
    """Lint, and run the tests that are named, or those of what changed; the worst exit code."""
    options = [word for word in words if word.startswith("-")]
    about = [] if len(options) < len(words) else tests_of(changed(since), fork(since))
    wanted = named(words) if len(options) < len(words) else about + options
    code = subprocess.call([sys.executable, "-m", "ruff", "check", "--quiet", "."], cwd=ROOT)
    if len(wanted) == len(options):
        print("no test is about what changed: name one with ARGS=…, or run them all with make test")
        return code
    files = {test.partition("::")[0] for test in wanted}
    print(f"testing {', '.join(sorted(files - {*options}))}", flush=True)
    many = len(files) > FEW or any((ROOT / file).is_dir() for file in files)
    spread = ["-n", "2", "--dist", "worksteal"] if many else []
    failed = subprocess.call([sys.executable, "-m", "pytest", *spread, *wanted], cwd=ROOT)
    if failed == INTERRUPTED and not (ROOT / ".venv" / ".test").exists():
        print("if a package is missing above: .venv/bin/python -m pip install -e '.[test]'")
    return failed or code


def watch(words: list[str], since: str | None) -> None:
    """Check again after each change of a file, on a server that stays, until Ctrl-C."""
    sys.path[:0] = [str(TESTS)]
    from qwf_agent import embedded
    from support.servers import own_server

    with own_server(embedded.binaries()) as server, server.database("watch_test"):
        os.environ["QWF_TEST_DSN"] = server.dsn("watch_test")
        while True:
            before = _times()
            for read in (_sources, _subjects, _calls):
                read.cache_clear()
            check(words, since)
            print("waiting for a change; Ctrl-C ends this", flush=True)
            while _times() == before:
                time.sleep(POLL_S)


def _times() -> dict[str, float]:
    """When each file of the checkout was written."""
    names = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return {name: (ROOT / name).stat().st_mtime for name in names if (ROOT / name).exists()}


def main() -> None:
    words, since = sys.argv[1:], os.environ.get("SINCE") or None
    if "--watch" in words:
        words.remove("--watch")
        try:
            watch(words, since)
        except KeyboardInterrupt:
            return
    sys.exit(check(words, since))


if __name__ == "__main__":
    main()

"""No value in a database ends a command: each is shown, and what a reader could not see as a
symbol."""

from __future__ import annotations

import json
import unicodedata
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from qwf_agent.look import values
from qwf_agent.look.draw import visible
from support.poison import CONTROLS, UNSEEN, fill, one
from support.welcome import Cli

Db = psycopg.Connection[Any]


def readers(db: Db) -> list[list[str]]:
    """Every command that reads, for every job and run there is."""
    jobs = [str(row[0]) for row in db.execute("select id from qwf.jobs order by id")]
    runs = [str(row[0]) for row in db.execute("select id from qwf.runs order by id")]
    return [
        *([verb, *more] for verb in ("jobs", "runs", "inputs", "queues", "workers", "schedules",
                                     "limits") for more in ([], ["--json"])),
        *(["job", job, *more] for job in jobs for more in ([], ["--json"])),
        *(["why", job] for job in jobs),
        *(["show", run, *more] for run in runs for more in ([], ["--json"])),
        *(["logs", job] for job in jobs[:1]),
        *(["wait", "run", run, "--timeout", "1ms"] for run in runs),
        *(["wait", "job", job, "--timeout", "1ms"] for job in jobs),
        ["logs", "-f", jobs[1]], ["metrics"], ["settings"], ["doctor"], ["doctor", "--json"],
    ]  # fmt: skip


@pytest.fixture
def poisoned(db: Db) -> Db:
    """A database full of such values."""
    fill(db)
    return db


def test_every_command_reads_every_value(on_db: Cli, poisoned: Db) -> None:
    for words in readers(poisoned):
        said = on_db(*words)
        assert said.exit_code in (0, 1, 2, 124), (words, said.output[-500:])
        assert "this is a bug" not in said.stderr, (words, said.stderr[-500:])
        assert "no database" not in said.stderr, (words, said.stderr[-500:])
        if "--json" in words:
            json.loads(said.stdout, parse_constant=lambda name: pytest.fail(name))
        elif words[0] != "logs":  # prints what a body printed, as it was
            unseen = {one for one in said.stdout if unicodedata.category(one) in ("Cc", "Cf")}
            assert unseen <= {"\n", "\t"}, words
            assert said.stdout.count("x") < 100_000, "one value hides the rest"


def test_times_beyond_those_of_python_are_shown(on_db: Cli, poisoned: Db) -> None:
    newest = one(poisoned, "select max(id) from qwf.jobs")
    for number, shown in enumerate(["4000-01-01 00:00:00+00 BC", "10999-01-01 00:00:00+00"]):
        assert f"expires at  {shown}" in on_db("job", newest - number).stdout
        job = json.loads(on_db("job", newest - number, "--json").stdout)["job"]
        assert job["expires_at"] == shown


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1 day 02:03:04.5", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("3000000 years", timedelta.max),
        ("infinity", timedelta.max),
        ("-infinity", timedelta.min),
    ],
)
def test_a_length_too_long_for_python_is_its_longest(text: str, read: timedelta) -> None:
    assert values.LengthLoader(0).load(text.encode()) == read


def test_what_python_cannot_read_stays_text() -> None:
    assert values.read_json('{"n": 12, "m": 1.5}') == {"n": 12, "m": 1.5}
    long = "9" * 5000
    assert values.read_json(f"[{long}, {long}.5, -{long}]") == [long, f"{long}.5", f"-{long}"]
    deep = values.read_json('{"a": ' + "[" * 200 + '"]"' + "]" * 200 + ', "b": [1]}')
    assert deep["b"] == [1]
    for _ in range(values.MAX_DEPTH - 1):
        (deep,) = deep["a"] if isinstance(deep, dict) else deep
    assert json.loads(deep) == json.loads("[" * 141 + '"]"' + "]" * 141)


SETTINGS = {
    "datestyle": "German, DMY",
    "intervalstyle": "iso_8601",
    "client_encoding": "LATIN1",
    "timezone": "<+0330>-3:30",
    "bytea_output": "escape",
    "search_path": '""',
    "standard_conforming_strings": "off",
}


def test_the_settings_of_a_database_change_nothing(on_db: Cli, db: Db) -> None:
    job = on_db(
        "enqueue", "t", "--timeout", "90 min", "--args", '{"x": "\u20ac \\\\"}'
    ).stdout.strip()
    before = on_db("job", job, "--json").output
    assert json.loads(before)["job"]["inputs"] == {"x": "\u20ac \\"}
    assert json.loads(before)["job"]["timeout"] == 5400
    for setting, value in SETTINGS.items():
        change = "alter database {} set {} = {}"
        name, to = sql.Identifier(db.info.dbname), sql.Literal(value)
        db.execute(sql.SQL(change).format(name, sql.Identifier(setting), to))
    assert on_db("job", job, "--json").output == before
    second = on_db("enqueue", "t", "--args", '{"x": "\u20ac \\\\"}', "--at", "2030-01-31 06:00")
    shown = json.loads(on_db("job", second.stdout.strip(), "--json").stdout)["job"]
    assert shown["inputs"] == {"x": "\u20ac \\"}
    assert shown["run_at"].startswith("2030-01-3")


def test_an_unseen_character_is_shown_as_a_symbol() -> None:
    for character in [*UNSEEN, *CONTROLS.replace("\n", "").replace("\t", ""), "\ud800"]:
        shown = visible(f"a{character}b")
        assert character not in shown, ascii(character)
        assert len(shown) == 3, ascii(character)
        assert shown.isprintable(), ascii(character)


def test_texts_that_people_write_stay_as_they_are() -> None:
    for text in (
        "naïve",
        "日本語",
        "\N{GRINNING FACE}",
        "שלום",
        "a\tb\n",
        "e\u0301",
        "\u2764\ufe0f",
    ):
        assert visible(text) == text


def test_searches_find_and_group_every_value(poisoned: Db) -> None:
    for key, column in (
        ("args", "inputs"),
        ("labels", "labels"),
        ("task", "task"),
        ("project", "project"),
        ("error", "substr(last_error, 1, 400)"),
    ):
        missed = poisoned.execute(
            f"select id from qwf.jobs j where last_error is not null"
            f" and _qwf.json_problem(to_jsonb({column}), 60000) is null and not exists"
            f" (select from qwf.find_jobs(jsonb_build_object('{key}', {column})) f"
            "  where f.id = j.id)"
        ).fetchall()
        assert missed == [], key
    for name in (
        "find_jobs()",
        "find_runs()",
        "failure_groups()",
        "count_jobs()",
        "queue_overview",
    ):
        assert poisoned.execute(f"select to_jsonb(r)::text from qwf.{name} r").fetchall()
    bounded = "select bool_and(length(signature) < 1000 and length(example) <= 200)"
    assert one(poisoned, f"{bounded} from qwf.failure_groups()")

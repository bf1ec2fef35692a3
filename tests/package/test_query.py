"""The search language of the page and the terminal."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from qwf_agent.look import query
from qwf_agent.look.query import JOBS, RUNS, QueryError

NOON = datetime(2030, 1, 31, 12, 0, 30, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "filter_"),
    [
        ("", {}),
        ("state:failed task:flaky", {"status": ["failed"], "task": "flaky"}),
        ("status:asked,Running", {"status": ["awaiting_input", "running"]}),
        ("args.order=7", {"args": {"order": 7}}),
        ('args.order="7" args.to=007', {"args": {"order": "7", "to": "007"}}),
        ("args.photo.size=2 args.photo.raw=true", {"args": {"photo": {"size": 2, "raw": True}}}),
        ("args.to=user19999@example.org", {"args": {"to": "user19999@example.org"}}),
        ("label:team=ops label:n=3", {"labels": {"team": "ops", "n": 3}}),
        ('label:"two words=three four"', {"labels": {"two words": "three four"}}),
        ('args."{\\"a b\\": 1}"', {"args": {"a b": 1}}),
        ("run:12 since:2h", {"run_id": 12, "since": "2030-01-31T10:00:00+00:00"}),
        ("until:2026-01-01", {"until": "2026-01-01"}),
        ('"card declined"', {"text": "card declined"}),
        ("card state:failed declined", {"status": ["failed"], "text": "card declined"}),
        ('error:"disk \\"one\\" full"', {"error": 'disk "one" full'}),
        ("doc:7 KeyError: 7", {"text": "doc:7 KeyError: 7"}),
        ("https://example.org/a?b=c", {"text": "https://example.org/a?b=c"}),
        ('"taks:flaky"', {"text": "taks:flaky"}),
        ('like:"OSError: disk # full"', {"signature": "OSError: disk # full"}),
    ],
)
def test_a_query_becomes_a_filter_and_is_written_as_it_was_read(
    text: str, filter_: dict[str, object]
) -> None:
    given = JOBS.read(text)
    assert query.as_filter(given, NOON) == filter_
    assert query.as_filter(JOBS.read(JOBS.write(given)), NOON) == filter_
    assert JOBS.chosen(given) == given


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("taks:flaky", 'There is no taks: here. Write task: or "taks:flaky"'),
        ("args:7", "Write args.NAME=VALUE or"),
        ("args.order", "Write a name and a value: args.order=7."),
        ("label:team", "Write a name and a value: label:team=ops."),
        ("task:", "Write a value after task:"),
        ("task:a task:b", "task: stands twice"),
        ("args.a=1 args.a.b=2", "args.a stands twice"),
        ("run:x", "x is not the id of a run."),
        ("since:999999w", "That is too long ago."),
        ("x" * 1001, "A value is longer than 1000 letters"),
        ('args.a="' + "x" * 1001 + '"', "A value is longer than 1000 letters"),
    ],
)
def test_a_query_that_means_nothing_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(QueryError) as refused:
        query.as_filter(JOBS.read(text), NOON)
    assert said in str(refused.value)


def test_a_field_that_only_jobs_have_is_not_looked_for_as_a_text_of_runs() -> None:
    with pytest.raises(QueryError, match="There is no queue: here"):
        RUNS.read("queue:cpu")


def test_each_word_can_be_left_out() -> None:
    given = JOBS.read('state:failed args.a=1 args.b="x y" label:l=2 "some text"')
    terms = dict(JOBS.terms(given))
    assert {*terms} == {"args.a=1", 'args.b="x y"', "label:l=2", "state:failed", "some text"}
    assert query.as_filter(terms["args.a=1"], NOON)["args"] == {"b": "x y"}
    assert "label" not in terms["label:l=2"]
    assert "text" not in terms["some text"]


@pytest.mark.parametrize(
    ("words", "filter_"),
    [
        (["card declined"], {"text": "card declined"}),
        (["error:card declined", "task:t"], {"error": "card declined", "task": "t"}),
        (["args.to=Ada Lovelace"], {"args": {"to": "Ada Lovelace"}}),
        (["label:team=two words"], {"labels": {"team": "two words"}}),
        (['error:"a b"'], {"error": "a b"}),
        (["a", "b"], {"text": "a b"}),
        (["state:failed task:t error"], {"status": ["failed"], "task": "t", "text": "error"}),
        (["card declined args.n=1"], {"text": "card declined", "args": {"n": 1}}),
    ],
)
def test_the_quotes_that_a_shell_has_taken_are_given_back(
    words: list[str], filter_: dict[str, object]
) -> None:
    assert query.as_filter(JOBS.read(query.from_shell(words)), NOON) == filter_


def test_labels_of_an_address_keep_their_types() -> None:
    assert query.label("n=7") == {"n": 7}
    assert query.label("n = seven=7 ") == {"n": "seven=7"}
    assert query.label('{"a": "b"}') == {"a": "b"}
    with pytest.raises(QueryError):
        query.label("=7")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"order": 7, "to": "a@b"}, "order=7 to=a@b"),
        ({"text": "a\nb  c", "deep": {"x": [1]}}, 'text=a b c deep={"x": [1]}'),
        ({"a": "x" * 99}, "a=" + "x" * 57 + "…"),
        ({}, ""), (None, ""), ([1], ""),
    ],
)  # fmt: skip
def test_arguments_fit_into_a_line(args: object, line: str) -> None:
    assert query.in_words(args) == line


@pytest.mark.parametrize(
    "text", ['"', '"\\', "args.=", "=", ":", "args.a=[", 'a"b c"d', "\0", "x" * 5000]
)
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    try:
        given = JOBS.read(text)
    except QueryError as error:
        assert len(str(error)) > 10  # noqa: PT017
        return
    json.dumps(query.as_filter(given, NOON))
    assert "\0" not in json.dumps(given)

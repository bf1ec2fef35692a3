"""A log as lines with numbers, in the colours that a program has chosen."""

from __future__ import annotations

import re

import pytest

from qwf_agent.web.drawings import log_lines
from support.made_jobs import Db, fail, worker
from support.visitors import Visit


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain", [("", "plain")]),
        ("\x1b[31mred\x1b[0m plain", [("ansi-1", "red"), ("", " plain")]),
        ("\x1b[1;92mgood", [("ansi-2 bold", "good")]),
        ("\x1b[1mbold\x1b[22m\x1b[33mnot\x1b[39m", [("bold", "bold"), ("ansi-3", "not")]),
        ("\x1b[38;5;196mmany\x1b[38;2;1;31;3mmore", [("", "many"), ("", "more")]),
        ("\x1b[2K\x1b]0;title\x07text", [("", "text")]),
        ("10 %\r20 %", [("", "20 %")]),
        ("\x1b[m<b>&\u202e", [("", "<b>&\ufffd")]),
    ],
)
def test_colours_become_classes_and_other_orders_are_left_out(
    text: str, pieces: list[tuple[str, str]]
) -> None:
    (line,) = log_lines.read(text).lines
    assert list(line.pieces) == pieces


def test_a_colour_goes_on_over_the_ends_of_lines() -> None:
    log = log_lines.read("\x1b[31ma\nb\x1b[0m\nc\n")
    assert [line.pieces for line in log.lines] == [
        (("ansi-1", "a"),), (("ansi-1", "b"),), (("", "c"),),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["ValueError: 7", "Traceback (most recent call last):", "12:01 ERROR no disk", "FATAL: gone",
     "java.lang.NullPointerException: x", "panic: index"],
)  # fmt: skip
def test_the_first_line_that_looks_like_an_error_is_known(line: str) -> None:
    assert log_lines.read(f"no errors so far\nerrors: 0\n{line}\nValueError").first_error == 3


def test_the_page_links_each_line_and_hands_out_the_log(visit: Visit, db: Db) -> None:
    log = "\x1b[32mepoch 1\x1b[0m\n<b>epoch 2\nValueError: nan\n"
    job = fail(db, worker(db, "default"), "t", "ValueError: nan", log_tail=log)
    visitor = visit("viewer")
    page = visitor.text(f"/jobs/{job}")
    assert re.findall(r'<a href="#(ended-L\d)" aria-label="line \d"', page) == [
        "ended-L1", "ended-L2", "ended-L3",
    ]  # fmt: skip
    assert '<i class="ansi-2">epoch 1</i>' in page
    assert "First error: line 3" in page
    assert "&lt;b&gt;epoch 2" in page
    answer = visitor.get(f"/jobs/{job}/attempts/1/log")
    assert (answer.text, answer.headers["content-disposition"]) == (log, "attachment")
    assert answer.headers["content-type"].startswith("text/plain")
    assert visitor.get(f"/jobs/{job}/attempts/2/log").status_code == 404

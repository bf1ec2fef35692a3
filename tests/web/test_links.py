"""Signed links: who can use them, and what a person reads if one no longer works."""

from __future__ import annotations

import hmac
import multiprocessing
import os
import stat
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.config import ConfigError
from qwf_agent.look import links
from qwf_agent.look.links import LinkRefused
from support.harness import until

SECRET = bytes(range(32))
ASKED = datetime(2026, 11, 22, 14, 3, 11, 250_000, tzinfo=timezone.utc)
EXPIRES = ASKED + timedelta(days=2)
NOW = ASKED + timedelta(hours=1)
LINK = links.QuestionLink(345, ASKED, EXPIRES, "ada")
TOKEN = links.sign(SECRET, 345, ASKED, EXPIRES, "ada")
PENDING = {"since": ASKED}
BREAKS = {
    "empty": "",
    "short": TOKEN[:20],
    "cut by a mail program": TOKEN[:-1],
    "with a letter more": f"{TOKEN}A",
    "not of this alphabet": "\u202e" * 40,
    "not base64": "!" * 60,
    "of wrong length": "A" * 61,
    "long": "A" * 5000,
    "zero": urlsafe_b64encode(bytes(60)).decode(),
}


def refusal(call: Callable[[], Any]) -> LinkRefused:
    with pytest.raises(LinkRefused) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", ["ada", "Zoë", "ada lovelace", "x" * links.LONGEST_NAME])
def test_a_link_says_what_was_signed(name: str) -> None:
    token = links.sign(SECRET, 2**63 - 1, ASKED, EXPIRES, name)
    link = links.check(SECRET, token, NOW)
    assert link == links.QuestionLink(2**63 - 1, ASKED, EXPIRES, name)
    assert link.by == f"link:{name}"


def test_a_token_is_short_and_fits_into_an_address() -> None:
    assert len(TOKEN) < 70
    assert set(TOKEN) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\u202eb", "a\u200bb", "x" * 81, "a\0b"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the name in a link has"):
        links.sign(SECRET, 1, ASKED, EXPIRES, name)


@pytest.mark.parametrize("how", BREAKS)
def test_a_damaged_link_is_broken(how: str) -> None:
    assert refusal(lambda: links.check(SECRET, BREAKS[how], NOW)).reason == "broken"


def test_no_changed_bit_is_accepted() -> None:
    whole = urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4))
    for place in range(len(whole)):
        for bit in (1, 128):
            changed = bytearray(whole)
            changed[place] ^= bit
            token = urlsafe_b64encode(bytes(changed)).decode()
            assert refusal(lambda sent=token: links.check(SECRET, sent, NOW)).reason == "broken"


def test_a_new_secret_ends_all_links() -> None:
    assert refusal(lambda: links.check(bytes(32), TOKEN, NOW)).reason == "broken"


def test_what_the_secret_signs_for_another_use_opens_no_question() -> None:
    whole = urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4))
    body = whole[links.MAC_BYTES :]
    mac = hmac.digest(SECRET, b"another use\0" + body, "sha256")[: links.MAC_BYTES]
    token = urlsafe_b64encode(mac + body).rstrip(b"=").decode()
    assert refusal(lambda: links.check(SECRET, token, NOW)).reason == "broken"


def test_a_link_ends_at_its_time() -> None:
    just_before = EXPIRES - timedelta(milliseconds=1)
    assert links.check(SECRET, TOKEN, just_before) == LINK
    refused = refusal(lambda: links.check(SECRET, TOKEN, EXPIRES))
    assert refused.reason == "expired"
    assert "2026-11-24 14:03 UTC" in str(refused)


def test_a_time_of_another_zone_is_the_same_time() -> None:
    there = timezone(timedelta(hours=-9))
    token = links.sign(SECRET, 345, ASKED.astimezone(there), EXPIRES.astimezone(there), "ada")
    assert token == TOKEN


def test_a_question_that_waits_is_open() -> None:
    links.open_question(LINK, PENDING, None)


def test_an_earlier_answer_of_the_job_does_not_count() -> None:
    before = {"login": "web", "acting_for": "bob", "answered_at": ASKED - timedelta(seconds=1)}
    links.open_question(LINK, PENDING, before)


@pytest.mark.parametrize("asks_again", [None, {"since": ASKED + timedelta(milliseconds=1)}])
def test_an_answered_question_says_who_answered_it(asks_again: Any) -> None:
    at = ASKED + timedelta(minutes=5)
    answer = {"login": "web", "acting_for": "b\u202eob", "by_default": False, "answered_at": at}
    refused = refusal(lambda: links.open_question(LINK, asks_again, answer))
    assert refused.reason == "answered"
    assert str(refused) == (
        "This question was answered by web, acting for b\ufffdob at 2026-11-22 14:08:11 UTC."
    )


def test_a_link_does_not_open_a_later_question_of_its_job() -> None:
    later = {"since": ASKED + timedelta(hours=2)}
    refused = refusal(lambda: links.open_question(LINK, later, None))
    assert refused.reason == "asked again"


def test_a_question_that_was_withdrawn_is_gone() -> None:
    assert refusal(lambda: links.open_question(LINK, None, None)).reason == "gone"


# The secret -------------------------------------------------------------------------------------


def test_the_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "home" / "web.key"
    secret = links.load_secret(file)
    assert len(secret) == 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert links.load_secret(file) == secret
    assert [one.name for one in file.parent.iterdir()] == ["web.key"]
    file.unlink()
    assert links.load_secret(file) != secret


def test_processes_that_start_at_once_have_one_secret(tmp_path: Path) -> None:
    file = tmp_path / "web.key"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.map(links.load_secret, [file] * 24, chunksize=1)
    assert len(set(found)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["web.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "web.key"
    links.load_secret(file)
    file.chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        links.load_secret(file)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_damaged_secret_is_refused(tmp_path: Path, size: int) -> None:
    file = tmp_path / "web.key"
    file.touch(0o600)
    file.write_bytes(bytes(size))
    with pytest.raises(ConfigError, match="is damaged: delete it"):
        links.load_secret(file)


def test_a_secret_behind_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    links.load_secret(tmp_path / "other.key")
    (tmp_path / "link.key").symlink_to("other.key")
    os.mkfifo(tmp_path / "pipe.key", 0o600)
    for name in ("link.key", "pipe.key"):
        with pytest.raises(ConfigError):
            links.load_secret(tmp_path / name)


def test_a_secret_can_be_given(tmp_path: Path) -> None:
    assert links.load_secret(tmp_path / "none", "s" * 32) == b"s" * 32
    with pytest.raises(ConfigError, match="fewer than 32"):
        links.load_secret(tmp_path / "none", "s" * 31)
    assert [one.name for one in tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be"):
        links.load_secret(tmp_path / "file" / "web.key")


# With the database ------------------------------------------------------------------------------

FIND = "select since, spec from qwf.pending_inputs where job_id = %s"
ANSWER = (
    "select login, acting_for, by_default, answered_at from qwf.input_answers where job_id = %s"
    " order by id desc limit 1"
)
Db = psycopg.Connection[Any]


def fail(db: Db) -> int:
    """The id of the job that has failed and asks what to do."""
    query = (
        "with claimed as materialized ("
        "  select c.* from qwf.workers w cross join lateral qwf.claim('default', w.id, 1) c)"
        " select job_id, qwf.finish(job_id, token, 'fatal', null, 'x') from claimed"
    )
    [(job, _)] = db.execute(query).fetchall()
    return int(job)


@pytest.fixture
def asking(db: Db) -> int:
    """A job that asks a person."""
    db.execute("select qwf.register_worker('box-a', 'default', '{}')")
    db.execute("select qwf.enqueue('t', on_failure => 'ask')")
    return fail(db)


def link_to(db: Db, job: int) -> links.QuestionLink:
    """Contents of a signed link to the present question of a job."""
    [(asked, _)] = db.execute(FIND, (job,)).fetchall()
    token = links.sign(SECRET, job, asked, asked + timedelta(days=1), "ada")
    return links.check(SECRET, token, asked)


def use(db: Db, link: links.QuestionLink) -> None:
    """Answer the question of a link as open_question says."""
    pending = db.execute(FIND, (link.job,)).fetchone()
    answer = db.execute(ANSWER, (link.job,)).fetchone()
    links.open_question(
        link,
        pending and {"since": pending[0]},
        answer
        and dict(zip(("login", "acting_for", "by_default", "answered_at"), answer, strict=True)),
    )
    db.execute("select qwf.answer_job(%s, '\"retry\"', %s)", (link.job, link.by))


def test_a_link_answers_its_question_once(db: Db, asking: int) -> None:
    link = link_to(db, asking)
    use(db, link)
    assert refusal(lambda: use(db, link)).reason == "answered"
    assert fail(db) == asking
    refused = refusal(lambda: use(db, link))  # it asks again now, with the same options
    assert refused.reason == "answered"
    assert "acting for link:ada" in str(refused)
    use(db, link_to(db, asking))


def test_of_two_who_use_a_link_at_once_one_answers(
    db: Db, asking: int, connect: Callable[[], Db]
) -> None:
    """Both have read that the question is open; the second waits for the first, and is refused."""
    link, phones = link_to(db, asking), [connect(), connect()]
    for phone in phones:
        phone.autocommit = False
        phone.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        assert phone.execute(FIND, (asking,)).fetchone() is not None
    first, second = phones
    use(first, link)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(use, second, link)
        query = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
        pid = second.info.backend_pid
        until(lambda: db.execute(query, (pid,)).rowcount, "a session that waits")
        first.commit()
        with pytest.raises(psycopg.errors.SerializationFailure):
            waiting.result(60)
    second.rollback()
    assert refusal(lambda: use(second, link)).reason == "answered"
    second.rollback()
    assert db.execute("select count(*) from qwf.input_answers").fetchone() == (1,)


def test_a_link_cannot_answer_what_is_asked_in_between(
    db: Db, asking: int, connect: Callable[[], Db]
) -> None:
    link, phone = link_to(db, asking), connect()
    phone.autocommit = False
    phone.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    assert phone.execute(FIND, (asking,)).fetchone() is not None
    db.execute("select qwf.answer_job(%s, '\"retry\"', 'bob')", (asking,))
    assert fail(db) == asking  # it asks again, which `phone` does not see
    with pytest.raises(psycopg.errors.SerializationFailure):
        use(phone, link)
    phone.rollback()
    refused = refusal(lambda: use(phone, link))
    assert "acting for bob" in str(refused)
    phone.rollback()
    assert db.execute("select count(*) from qwf.input_answers").fetchone() == (1,)

"""Alerts from the event to the letterbox, with real agents, a mail server and a web server."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from datetime import datetime, timedelta
from email.header import decode_header, make_header
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from standardwebhooks import Webhook, WebhookVerificationError, webhooks

from qwf_agent.app import Checkpoint, PermanentError, TemporaryError
from qwf_agent.look import links
from qwf_agent.receivers import delivery, mail, text
from qwf_agent.receivers.config import Receiver
from qwf_agent.system.exit_codes import MISCONFIGURED
from support import asking, visitors
from support.harness import Database, StartAgent, run_agent, until
from support.letterbox import (
    PASSWORD,
    configure,
    http_server,
    mail_receiver,
    mail_server,
    slow_server,
)  # fmt: skip

SECRET = "whsec_" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
FAILED = "select last_error from qwf.jobs where status = 'failed' and task = 'qwf.send'"
OLD = "whsec_" + "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


def secret(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    file.chmod(0o600)
    return file


def deliver(start: StartAgent) -> Any:
    return start("--queue", "qwf.alerts", "--slots", "2", fresh=True)


def rule(base: Database, receiver: str, **more: Any) -> None:
    given = {"when": ["run_ended", "job_failed", "question_asked"], "do": {"receiver": receiver}}
    base.one("select qwf.set_alert('r', %s)", json.dumps({**given, **more}))


def fail_a_job(base: Database, task: str = "load", error: str = "boom") -> None:
    base.enqueue(task)
    base.one(
        "select qwf.finish(job_id, token, 'fatal', null, %s) from qwf.claim('default', 'w', 1)",
        error,
    )
    base.one("select qwf.tick()")


def test_a_failed_job_makes_one_mail_and_its_end_answers_in_the_same_thread(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """A mail goes out encrypted, once, and the message that it is over is in its thread."""
    with mail_server(tmp_path) as (mails, port, cert):
        password = secret(tmp_path, "smtp", PASSWORD)
        configure(
            tmp_path,
            f"""
            [receiver.ada]
            kind = "mail"
            smtp = "smtp://qwf@localhost:{port}"
            password-file = "{password}"
            ca-file = "{cert}"
            from = "qwf@example.org"
            to = ["ada@example.org"]
            page = "https://box-a:5688/"
        """,
        )
        deliver(start)
        rule(base, "ada", within="1 s")
        fail_a_job(base)  # the message names the newest job, so the second one fails after it
        until(lambda: base.one("select count(*) from qwf.alert_messages") == 1, "a message")
        fail_a_job(base)
        until(lambda: len(mails.taken) == 2, "the mail that it is over")
        first, over = mails.taken
        assert first["Subject"] == "job 1 (load) failed: boom"
        assert re.fullmatch(r"resolved: load \(job failed, (1 event|2 events)\)", over["Subject"])
        assert re.search(
            r"^first: \d{4}(-\d\d){2} \d\d(:\d\d){2} UTC\r?$", over.get_content(), re.M
        )
        assert (first["From"], first["To"]) == ("qwf@example.org", "ada@example.org")
        assert first["Auto-Submitted"] == "auto-generated"
        assert first["References"] == over["References"]
        assert first["Message-ID"] != over["Message-ID"]
        assert "https://box-a:5688/jobs/1" in first.get_content()
        assert base.invariants() == []


def test_a_mail_says_which_run_is_late_and_by_how_much() -> None:
    detail = {"runs_for": 5400, "expected": 1200.4}
    late = {
        "kind": "run_late",
        "state": "open",
        "subject": "w",
        "run": 7,
        "job": 8,
        "detail": detail,
    }
    assert text.title(late) == "run 7 of w is late"
    assert text.lines(late, None).splitlines()[2:4] == ["runs for: 1:30:00", "expected: 0:20:00"]
    assert text.title({**late, "kind": "job_late"}) == "job 8 (w) is late"


def test_a_mail_says_that_a_question_is_over() -> None:
    """By the node that asked."""
    asked = {
        "kind": "question_asked",
        "state": "open",
        "subject": "ask",
        "names": {"node": "ask"},
    }
    assert text.title({**asked, "detail": {"prompt": "Go on?"}}) == "ask asks: Go on?"
    assert text.title({**asked, "state": "resolved"}) == "resolved: ask no longer asks"
    of_a_job = {**asked, "names": {"task": "send"}, "subject": "send", "state": "resolved"}
    assert text.title(of_a_job) == "resolved: send no longer asks"


def test_a_certificate_that_is_not_trusted_says_which_key_helps(tmp_path: Path) -> None:
    """The mail server of a firm often has one of the firm's own."""
    with mail_server(tmp_path) as (mails, port, _):
        ada = Receiver("ada", "mail", smtp=f"smtp://localhost:{port}", to=("ada@example.org",))
        with pytest.raises(TemporaryError, match="ca-file names a certificate to trust"):
            mail.send(ada, {"id": "a.1.1", "state": "test", "rule": "r"})
        assert not mails.taken


def test_an_agent_that_delivers_nothing_stays_alive_and_asleep(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """A night without an alert: it is not taken for dead, and the next message wakes it."""
    configure(tmp_path, '[receiver.ops]\nkind = "ping"\nurl = "https://example.org/"\n')
    agent = deliver(start)
    seen = "select last_seen from qwf.workers"
    registered = until(lambda: base.one(seen), "the agent")
    until(lambda: base.one(seen) > registered + timedelta(seconds=4), "heartbeats while asleep")
    assert base.one("select queue from qwf.sleepers") == "qwf.alerts"
    assert "failed" not in agent.log.read_text()


def test_a_question_is_answered_from_the_mail(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Each recipient gets a link of their own, which opens this question alone. One answers by it,
    the other finds it answered, and nobody is reminded four hours later."""
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        receiver = mail_receiver("ada", port, "ada@example.org", "bob@example.org")
        configure(tmp_path, receiver + 'page = "https://box-a:5688/"\nanswer = true\n')
        given = "0123456789abcdef0123456789abcdef"
        start("--queue", "qwf.alerts", fresh=True, QWF_LINK_SECRET=given)
        reminder = {"when": ["question_asked"], "for": "4 h", "do": {"receiver": "ada"}}
        base.one("select qwf.set_alert('reminder', %s)", json.dumps(reminder))
        base.one("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": [
            {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go on?"}]}))  # fmt: skip
        for _ in range(3):  # a box that is busy with other tests has three tries
            mails.taken.clear()
            mails.to.clear()
            base.conn.execute("select qwf.cancel_run(id) from qwf.runs where finished_at is null")
            began = time.monotonic()
            base.one("select qwf.enqueue_run('w', notify => 'ada')")
            until(lambda: len(mails.taken) == 2, "the mails")
            if (took := time.monotonic() - began) < 3:
                break
        assert took < 3, "a question is on a phone in 3 s"
        assert sorted(mails.to) == [["ada@example.org"], ["bob@example.org"]]
        paths = []
        for mail, to in zip(mails.taken, mails.to, strict=True):
            (token,) = [
                line.rpartition("/")[2]
                for line in mail.get_content().splitlines()
                if "/answer/" in line
            ]
            found = base.conn.execute(
                "select job_id, since, now() as at from qwf.pending_inputs"
            ).fetchone()
            assert found is not None
            link = links.check(given.encode(), token, found["at"])
            assert (link.job, link.by) == (found["job_id"], f"link:{to[0]}")
            paths.append(f"/answer/{token}")
        with (
            psycopg.connect(base.dsn, autocommit=True) as db,
            visitors.visitor(db, base.dsn, "operator", link_secret=given.encode()) as phone,
        ):
            phone.client.cookies.clear()
            asking.answer(phone.client, paths[0], choose="Yes")
            assert "was answered by" in phone.client.get(paths[1]).text
        answered = "select acting_for from qwf.input_answers"
        assert base.one(answered) == f"link:{mails.to[0][0]}"
        base.conn.execute(  # five hours later, at once
            "create or replace function qwf.now() returns timestamptz language sql volatile"
            " as $$ select pg_catalog.clock_timestamp() + interval '5 h' $$"
        )
        base.one("select qwf.tick()")
        until(
            lambda: base.one("select count(*) = 0 from _qwf.event_log where seq is null"), "numbers"
        )
        assert base.one("select count(*) from qwf.alert_messages where rule = 'reminder'") == 0


class SixMinutesLater(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> SixMinutesLater:
        return super().now(tz) + timedelta(minutes=6)


def test_a_hook_is_signed_tried_again_and_refuses_a_redirect(
    base: Database, start: StartAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Standard Webhooks library verifies each try, and refuses one that somebody sends again
    later; all have one id. A redirect ends them."""
    with http_server() as posts:
        key = secret(tmp_path, "key", f"{SECRET}\n{OLD}\n")
        configure(
            tmp_path,
            f"""
            [receiver.ops]
            kind = "hook"
            url = "{posts.url}"
            private = true
            secret-file = "{key}"
        """,
        )
        posts.answers = [(503, {"Retry-After": "0"})]
        deliver(start)
        rule(base, "ops")
        fail_a_job(base)
        until(lambda: posts.got, "a request")
        base.conn.execute("update qwf.jobs set run_at = now() where status = 'scheduled'")
        until(lambda: len(posts.got) == 2, "the second try")
        for post in posts.got:
            for one in (SECRET, OLD):
                body = Webhook(one).verify(post.body, post.headers)
            assert body["text"] == "job 1 (load) failed: boom"
            with pytest.raises(WebhookVerificationError):
                Webhook(SECRET).verify(post.body + b" ", post.headers)
        monkeypatch.setattr(webhooks, "datetime", SixMinutesLater)
        with pytest.raises(WebhookVerificationError, match="too old"):
            Webhook(SECRET).verify(posts.got[0].body, posts.got[0].headers)
        assert posts.got[0].headers["webhook-id"] == posts.got[1].headers["webhook-id"]
        posts.answers = [(302, {"Location": posts.url})]
        base.one("select qwf.test_alert('r')")
        until(
            lambda: base.one(FAILED),
            "the refusal",
        )
        error = base.one(FAILED)
        assert "receiver ops: redirect of 127.0.0.1" in error
        assert len(posts.got) == 3


def test_a_message_survives_the_death_of_its_agent_and_of_the_mail_server(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """A mail may come twice only when its server died before it answered, with one Message-ID."""
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        configure(tmp_path, mail_receiver("ada", port, "ada@example.org"))
        rule(base, "ada", by="job")
        agent = deliver(start)
        mails.drop = 1
        fail_a_job(base)
        until(lambda: len(mails.taken) == 1, "the mail")
        agent.process.kill()
        agent.process.wait()
        for _ in range(5):
            fail_a_job(base)
        deliver(start)
        base.conn.execute("update qwf.jobs set lease_expires_at = now() where status = 'running'")
        until(
            lambda: (
                not base.one(
                    "select count(*) from qwf.jobs where task = 'qwf.send'"
                    " and status in ('queued', 'running')"
                )
            ),
            "all mails",
        )
        base.conn.execute("update qwf.jobs set run_at = now() where status = 'scheduled'")
        until(lambda: len(mails.taken) >= 7, "all mails")
        names = [mail["Message-ID"] for mail in mails.taken]
        assert len(names) == 7
        assert len(set(names)) == 6
        assert base.invariants() == []


def test_a_command_gets_the_message_and_its_exit_code_counts(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Standard input is the message; exit code 64 is final."""
    program = tmp_path / "page"
    program.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/got.new && mv {tmp_path}/got.new {tmp_path}/got\nexit 64\n"
    )
    program.chmod(0o755)
    configure(tmp_path, f'[receiver.pager]\nkind = "command"\nargv = ["{program}"]\n')
    deliver(start)
    rule(base, "pager")
    base.one("select qwf.test_alert('r')")
    until(lambda: (tmp_path / "got").exists(), "the message")
    assert json.loads((tmp_path / "got").read_text())["state"] == "test"
    until(lambda: base.one("select status = 'failed' from qwf.jobs"), "the end")
    assert "receiver pager" in base.one("select last_error from qwf.jobs")


def test_what_others_wrote_adds_no_header_and_no_recipient(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The error of a job and the prompt of a question stay in the subject and the text."""
    evil = "boom\r\nBcc: eve@example.org\r\n\r\n\x1b[2J\u2028Subject: other"
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        configure(tmp_path, mail_receiver("ada", port, "ada@example.org"))
        deliver(start)
        rule(base, "ada")
        fail_a_job(base, error=evil)
        base.one("select qwf.register_workflow(%s)", json.dumps({"name": "w", "steps": [
            {"id": "ask", "kind": "input", "widget": "confirm", "prompt": evil}]}))  # fmt: skip
        base.one("select qwf.enqueue_run('w')")
        until(lambda: len(mails.taken) == 2, "the mails")
        assert mails.to == [["ada@example.org"]] * 2
        for mail in mails.taken:
            assert mail.get_all("Bcc") is None
            assert mail.get_all("To") == ["ada@example.org"]
            (subject,) = mail.get_all("Subject", [])
            assert "boom" in subject
            assert str(subject).isprintable()


EVIL = (
    "x =?utf-8?q?=0D=0AContent-Type:_text/html=0D=0AReply-To:_e@evil.net=0D=0A=0D=0A<h1>Hi?= y",
    "=?utf-8?b?DQpCY2M6IGVAZXZpbC5uZXQNCg0KPGgxPg==?=",
    "Größe =?iso-8859-1?q?=0ABcc:_e@evil.net?= 東京 " + "é" * 200,
    "=?utf-8?q?a?=\r\nBcc: e@evil.net\r\n\r\nhello " + "word " * 60,
)
NAMES = ["From", "To", "Date", "Message-ID", "References", "In-Reply-To", "Auto-Submitted",
         "X-Auto-Response-Suppress", "Subject"]  # fmt: skip


@pytest.mark.parametrize("said", EVIL)
def test_an_encoded_word_of_others_stays_letter_by_letter_in_the_subject(
    said: str, tmp_path: Path
) -> None:
    """Python before 3.12.5 decodes it, line breaks and all, when a header is set: so an error, the
    prompt of a question, the name of a node or task could write headers and the text of a mail."""
    opened = {"id": "m1", "state": "open", "rule": "r", "run": 1, "job": 1}
    messages = [
        {**opened, "kind": "job_failed", "subject": "load", "detail": {"error": said}},
        {**opened, "kind": "job_failed", "subject": said},
        {**opened, "kind": "run_ended", "subject": said, "detail": {"status": said}},
        {**opened, "kind": "question_asked", "subject": "w", "names": {"node": said}},
        {**opened, "kind": "question_asked", "subject": "w", "detail": {"prompt": said}},
        {**opened, "kind": "worker_dead", "subject": said, "state": "still", "count": 2},
    ]
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        to = Receiver("ops", "mail", smtp=f"smtp://127.0.0.1:{port}", tls=False, to=("a@b.c",))
        for message in messages:
            delivery.deliver(to, message)
    for message, raw in zip(messages, mails.raw, strict=True):
        head = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0].decode("ascii")
        lines = re.split(r"\n(?![ \t])", head)
        fields = dict(line.split(": ", 1) for line in lines)
        assert sorted(fields) == sorted([*NAMES, *(key for key in fields if key in
            ("MIME-Version", "Content-Type", "Content-Transfer-Encoding", "X-Peer"))])  # fmt: skip
        assert len(lines) == len(fields)
        assert fields["Content-Type"].startswith("text/plain")
        shown = re.sub(r"\n(?=[ \t])", "", fields["Subject"])
        assert str(make_header(decode_header(shown))) == text.title(message)
        assert max(map(len, head.splitlines())) <= 998


@pytest.mark.parametrize(
    ("user", "password"),
    [("qwf", "pässwört€"), ("jörg@example.org", "s3cret"), ("用户", "пароль")],
)
def test_a_user_and_a_password_may_be_in_any_script(
    user: str, password: str, tmp_path: Path
) -> None:
    """They go as UTF-8, as RFC 4616 says; a wrong one is refused as before."""
    with mail_server(tmp_path) as (mails, port, cert):
        mails.login = (user, password)
        ada = Receiver(
            "ada", "mail", smtp=f"smtp://{quote(user)}@localhost:{port}", ca_file=cert,
            to=("ada@müller.example", "jörg@example.org"),
            password_file=secret(tmp_path, "smtp", password),
        )  # fmt: skip
        mail.send(ada, {"id": "a.1.1", "state": "test", "rule": "r"})
        assert mails.to == [["ada@xn--mller-kva.example", "jörg@example.org"]]
        mails.login = (user, "another")
        with pytest.raises(TemporaryError, match="535 the user or password was refused"):
            mail.send(ada, {"id": "a.1.1", "state": "test", "rule": "r"})


def test_an_address_that_the_server_does_not_know_how_to_write_is_said(tmp_path: Path) -> None:
    """It offers no SMTPUTF8: the others get the mail, and no other try can help."""
    with mail_server(tmp_path, tls=False, utf8=False) as (mails, port, _):
        to = Receiver("ops", "mail", smtp=f"smtp://127.0.0.1:{port}", tls=False,
                      to=("jörg@b.c", "ada@müller.example", "bob@b.c"))  # fmt: skip
        with pytest.raises(PermanentError, match="needs SMTPUTF8, which the mail server does not"):
            delivery.deliver(to, {"id": "m1", "state": "test", "rule": "r"})
        assert mails.to == [["ada@xn--mller-kva.example", "bob@b.c"]]
        assert mails.taken[0]["To"] == "ada@xn--mller-kva.example, bob@b.c"


def test_a_server_without_the_word_for_it_says_what_is_not_ascii(tmp_path: Path) -> None:
    """AUTH LOGIN says nothing about scripts: another try cannot help."""
    with mail_server(tmp_path, without=("PLAIN",)) as (mails, port, cert):
        for user, password, which in (("qwf", "pässwört", "password"), ("jörg", "x", "user")):
            ada = Receiver(
                "ada", "mail", smtp=f"smtp://{quote(user)}@localhost:{port}", ca_file=cert,
                to=("a@b.c",), password_file=secret(tmp_path, "smtp", password),
            )  # fmt: skip
            with pytest.raises(PermanentError, match=f"the {which} is not ASCII"):
                mail.send(ada, {"id": "a.1.1", "state": "test", "rule": "r"})
        assert not mails.taken


def test_a_recipient_whom_the_server_refuses_is_said_and_the_others_get_the_mail(
    tmp_path: Path,
) -> None:
    """Refused for good: no other try, so the others get it once. Refused for now: another try."""
    ada, bob, eve = "ada@example.org", "bob@example.org", "eve@example.org"
    message = {"id": "m1", "state": "open", "rule": "r", "kind": "run_ended", "subject": "w"}
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        to = Receiver("ops", "mail", smtp=f"smtp://127.0.0.1:{port}", tls=False, to=(bob, ada, eve))
        for said, kind in (("550 no such user", PermanentError), ("451 later", TemporaryError)):
            mails.refused = {bob: said}
            with pytest.raises(kind, match=said[:3]):
                delivery.deliver(to, message)
        assert mails.to == [[ada, eve]] * 2


def test_the_next_try_goes_only_to_recipients_who_do_not_have_the_mail(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The server refuses one of two for now. The database knows no address."""
    ada, bob = "ada@example.org", "bob@example.org"
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        configure(tmp_path, mail_receiver("ops", port, ada, bob))
        mails.refused = {bob: "451 later"}
        deliver(start)
        rule(base, "ops")
        fail_a_job(base)
        waits = "select count(*) from qwf.jobs where task = 'qwf.send' and status = 'scheduled'"
        until(lambda: base.one(waits) == 1, "the next try")
        assert ada not in base.one("select value::text from qwf.checkpoints")
        mails.refused = {}
        base.one("select qwf.change_job(id, run_at => qwf.now()) from qwf.jobs"
                 " where task = 'qwf.send'")  # fmt: skip
        until(lambda: mails.to == [[ada], [bob]], "a mail for each, once")
        assert len({mail["Message-ID"] for mail in mails.taken}) == 1
        assert base.invariants() == []


def test_a_sender_that_dies_between_two_mails_or_after_them_sends_none_twice(
    tmp_path: Path,
) -> None:
    """Each recipient has a mail of their own, as with links to answer."""
    saved: list[str] = []

    def save(value: str) -> None:
        saved.append(value)
        raise SystemExit

    with mail_server(tmp_path, tls=False) as (mails, port, _):
        to = Receiver("ops", "mail", smtp=f"smtp://127.0.0.1:{port}", tls=False,
                      to=("a@b.c", "d@e.f"), answer=True, page="https://box-a:5688/")  # fmt: skip
        asked = {"v": 1, "id": "m1", "state": "open", "rule": "r", "kind": "question_asked"}
        for had in (["a@b.c"], ["d@e.f"]):
            with pytest.raises(SystemExit):
                delivery.deliver(to, asked, Checkpoint(json.loads((saved or ["{}"])[-1]), save))
            assert mails.to[-1] == had
        delivery.deliver(to, asked, Checkpoint(json.loads(saved[-1]), save))
        assert mails.to == [["a@b.c"], ["d@e.f"]]


@pytest.mark.parametrize("stage", ["name", "greeting", "tls", "answer"])
def test_a_mail_server_that_never_comes_to_an_end_is_left(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends a letter now and then, so no time-out passes: the whole message has its time."""
    monkeypatch.setattr(mail, "SEND_S", 0.5)
    monkeypatch.setattr(mail, "NAME_S", 0.1)
    over = threading.Event()
    if stage == "name":
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(60))
        monkeypatch.setattr(socket, "getfqdn", lambda *_: over.wait(60))
    first = {"answer": b"220 ready\r\n250 hello\r\n", "tls": b"\x16\x03\x03\x40\x00"}
    with slow_server(first.get(stage, b"")) as port:
        scheme, tls = ("smtps", True) if stage == "tls" else ("smtp", False)
        to = Receiver("ops", "mail", smtp=f"{scheme}://localhost:{port}", tls=tls, to=("a@b.c",))
        began = time.monotonic()
        with pytest.raises(TemporaryError, match=r"not sent within 0\.5 s \(localhost\)"):
            delivery.deliver(to, {"id": "m1", "state": "test", "rule": "r"})
        assert time.monotonic() - began < 10
    over.set()


def test_a_mail_server_that_parts_with_an_error_has_taken_the_mail(tmp_path: Path) -> None:
    """The mail is not sent again."""
    with mail_server(tmp_path, tls=False) as (mails, port, _):
        mails.at_quit = "421 too busy to part"
        to = Receiver("ops", "mail", smtp=f"smtp://127.0.0.1:{port}", tls=False, to=("a@b.c",))
        delivery.deliver(to, {"id": "m1", "state": "test", "rule": "r"})
        assert len(mails.taken) == 1


def test_what_others_wrote_calls_nobody_in_a_chat() -> None:
    """Slack reads <!channel> and <https://a|b> in a text; an error says them letter by letter."""
    with http_server() as posts:
        chat = Receiver("chat", "hook", url=posts.url, format="slack", private=True)
        error = "<!channel> see <https://evil.example|the log> & more"
        delivery.deliver(chat, {
            "id": "m1", "state": "open", "rule": "r", "kind": "job_failed", "subject": "t",
            "detail": {"error": error}})  # fmt: skip
        text = json.loads(posts.got[0].body)["text"]
    assert "&lt;!channel&gt; see &lt;https://evil.example|the log&gt; &amp; more" in text
    assert "<" not in text


def test_no_secret_is_stored_when_a_receiver_fails(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Though the mail server repeats the password, and the secret is in the path of a hook."""
    with mail_server(tmp_path) as (mails, port, cert), http_server() as posts:
        password = secret(tmp_path, "smtp", PASSWORD)
        configure(
            tmp_path,
            f"""
            [receiver.ada]
            kind = "mail"
            smtp = "smtp://qwf@localhost:{port}"
            password-file = "{password}"
            ca-file = "{cert}"
            to = ["ada@example.org"]
            [receiver.chat]
            kind = "hook"
            url = "{posts.url}/T0KEN"
            private = true
        """,
        )
        mails.refusal = f"535 5.7.8 AUTH PLAIN AHF3ZgBzM2NyZXQ= {PASSWORD}: no"
        posts.answers = [(500, {})]
        agent = deliver(start)
        for name in ("ada", "chat"):
            base.one(
                "select qwf.set_alert(%s, %s)",
                f"r.{name}", json.dumps({"when": ["lost"], "do": {"receiver": name}}),
            )  # fmt: skip
            base.one("select qwf.test_alert(%s)", f"r.{name}")
        failed = "select count(*) from qwf.jobs where last_error is not null"
        until(lambda: base.one(failed) == 2, "both failures")
        kept = base.one(
            "select string_agg(to_jsonb(j)::text || to_jsonb(a)::text, '')"
            " from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id"
        )
        assert "535 the user or password was refused" in kept
        assert "500 from 127.0.0.1" in kept
        for one in (PASSWORD, "AHF3ZgBzM2NyZXQ", "T0KEN"):
            assert one not in kept
            assert one not in agent.said()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "hook"\nurl = "https://x.example"\nsecret-file = "KEY"', "others can read it (chmod 600)"),  # noqa: E501
        ('kind = "hook"\nurl = "http://x.example"', "url has to begin with https://"),
        ('kind = "mail"\nsmtp = "smtp://x"', "to has to be a list of addresses"),
        ('kind = "mail"\nsmtp = "smtp://mail..x"\nto = ["a@b.c"]', "mail..x is not the name of a"),
        ('kind = "mail"\nsmtp = "smtp://x:99999"\nto = ["a@b.c"]', "smtp has to be smtps://"),
        ('kind = "mail"\nsmtp = "smtp://x"\nto = [\'a"b@c.d\']', "is not an address such as ada@"),
        ('kind = "mail"\nsmtp = "smtp://x"\nto = ["a@b..d"]', "'a@b..d' is not an address"),
        ('kind = "mail"\nsmtp = "smtp://x"\nto = ["=?x?q?y?=@b.c"]', "is not an address"),
        ('kind = "fax"', "kind has to be one of hook, mail, command, ping"),
        ('kind = "ping"\nurll = "https://x.example"', "did you mean 'url'?"),
    ],
)  # fmt: skip
def test_an_agent_with_a_wrong_receiver_does_not_start(
    tmp_path: Path, text: str, says: str
) -> None:
    """The message names the receiver and says what to do."""
    key = secret(tmp_path, "key", SECRET)
    key.chmod(0o644)
    configure(tmp_path, f"[receiver.ops]\n{text.replace('KEY', str(key))}\n")
    code, said = run_agent(tmp_path, "--queue", "qwf.alerts", QWF_DSN="postgresql://nowhere/x")
    assert code == MISCONFIGURED
    assert "[receiver.ops]" in said
    assert says in said

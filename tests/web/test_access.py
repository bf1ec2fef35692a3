"""Who gets in, as whom, and who does not."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from qwf_agent.config import ConfigError
from qwf_agent.web.app import build, create_app
from qwf_agent.web.site import access
from qwf_agent.web.site import sign_in as sign_in_page
from qwf_agent.web.site.sign_in import SignIn
from qwf_agent.web.site.trusted import Header, Trusted
from support import visitors
from support.logins import names
from support.visitors import FORM, Visit

Db = psycopg.Connection[Any]
Open = Callable[..., TestClient]
PAUSED = "select paused from qwf.queues where name = 'default'"
ALWAYS = ("127.0.0.1", 4000)


@pytest.fixture
def browse() -> Iterator[Open]:
    """A client of an application, without a session."""
    with contextlib.ExitStack() as stack:

        def start(app: ASGIApp, client: tuple[str, int] = ALWAYS) -> TestClient:
            made = TestClient(app, base_url="http://127.0.0.1", client=client)
            return stack.enter_context(made)

        yield start


def csrf(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None, page.text[:300]
    return found[1]


# A link with a token ------------------------------------------------------------------------------


def test_the_link_lets_in_and_leaves_the_address(visit: Visit) -> None:
    visitor = visit("admin")
    assert visitor.get("/", params={"token": "wrong"}).status_code == 200  # has a session
    visitor.client.cookies.clear()
    assert visitor.get("/").status_code == 401
    assert visitor.get("/", params={"token": "wrong"}).status_code == 401
    answer = visitor.get("/", params={"token": visitors.TOKEN, "x": "1"}, follow_redirects=False)
    assert answer.headers["location"] == "/?x=1"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "samesite=lax" in answer.headers["set-cookie"].lower()


def test_a_stranger_is_told_what_to_grant(db: Db, dsn: str, browse: Open) -> None:
    where = visitors.login(db, dsn, "stranger")
    client = browse(build(where, access.TokenAccess(where, "t"), access.LOCAL_HOSTS))
    answer = client.get("/?token=t")
    assert answer.status_code == 403
    assert "grant qwf_viewer to web_test_stranger" in answer.text


def test_a_read_only_page_changes_nothing(db: Db, dsn: str, browse: Open) -> None:
    client = browse(build(dsn, access.TokenAccess(dsn, "t", read_only=True), access.LOCAL_HOSTS))
    page = client.get("/?token=t")
    assert "Pause" not in page.text
    client.cookies.set("x", "y")
    answer = client.post("/do/pause_queue", data={"csrf": "?", "name": "default"}, headers=FORM)
    assert answer.status_code == 403
    assert db.execute(PAUSED).fetchone() == (False,)


def test_every_answer_has_the_headers(visit: Visit) -> None:
    visitor = visit("viewer")
    for path in ("/", "/static/app.css", "/healthz", "/readyz", "/no-such-page"):
        headers = visitor.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert visitor.get("/").headers["cache-control"] == "no-store"


def test_each_page_of_a_host_has_a_cookie_of_its_own(dsn: str, db: Db) -> None:
    who = access.TokenAccess(dsn, visitors.TOKEN)
    app = build(dsn, who, access.LOCAL_HOSTS, trust_proxy=True)
    found = set()
    for port, prefix, scheme in ((1, "", "http"), (2, "", "http"), (1, "/q", "http"),
                                 (1, "", "https"), (1, "/q", "https")):  # fmt: skip
        headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-Prefix": prefix}
        with TestClient(app, base_url=f"{scheme}://127.0.0.1:{port}") as client:
            answer = client.get(f"{prefix}/?token={visitors.TOKEN}", headers=headers)
            assert answer.status_code == 200  # after the redirect, with the cookie
            name, _, rest = answer.history[0].headers["set-cookie"].partition("=")
        parts = rest.split("; ")[1:]
        if scheme == "https":
            assert name.startswith("__Host-")
            assert "Path=/" in parts
            assert "Secure" in parts
        else:
            assert f"Path={prefix or '/'}" in parts
        found.add(name)
    assert len(found) == 5


# A login of Postgres ------------------------------------------------------------------------------


def sign_in(client: TestClient, name: str, password: str, to: str = "/") -> httpx.Response:
    form = {"login": name, "password": password, "to": to}
    return client.post("/sign-in", data=form, headers=FORM, follow_redirects=False)


def test_a_person_signs_in_and_is_the_login(passwords: str, db: Db, browse: Open) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    assert str(client.get("/?x=1").url).endswith("/sign-in?to=%2F%3Fx%3D1")
    answer = sign_in(client, ada, "right", "/?x=1")
    assert answer.headers["location"] == "/?x=1"
    job = db.execute("select qwf.enqueue('t')").fetchone()
    assert job is not None
    form = {"csrf": csrf(client.get("/")), "job_id": str(job[0])}
    client.post("/do/cancel_job", data=form, headers=FORM)
    query = (
        "select login, acting_for from _qwf.event_log where job_id = %s and kind like '%%cancel%%'"
    )
    assert db.execute(query, job).fetchone() == (ada, None)
    client.post("/sign-out", headers=FORM)
    assert "/sign-in" in str(client.get("/").url)


def test_a_wrong_password_does_not_get_in(passwords: str, db: Db, browse: Open) -> None:
    ada, bob = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    trusted = sign_in(client, bob, "anything")  # pg_hba.conf trusts bob: we do not
    pairs = ((ada, "wrong"), ("nobody", "x"), (ada, ""))
    wrong = [sign_in(client, *pair) for pair in pairs]
    for answer in (trusted, *wrong):
        assert answer.status_code == 401
        assert "the login or the password is wrong" in answer.text
    assert client.get("/", follow_redirects=False).status_code == 303


def test_five_wrong_tries_make_a_person_wait(passwords: str, db: Db, browse: Open) -> None:
    ada, _ = names(db)
    app = build(passwords, SignIn(passwords), access.LOCAL_HOSTS)
    here, there = browse(app), browse(app, ("10.0.0.9", 1))
    assert [sign_in(here, ada, "wrong").status_code for _ in range(6)] == [401] * 5 + [429]
    assert sign_in(here, ada, "right").status_code == 429
    assert sign_in(there, ada, "right").status_code == 303  # a stranger does not lock her out


def test_tries_at_once_are_counted_before_they_are_checked(
    passwords: str, db: Db, browse: Open
) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda n: sign_in(client, ada, f"wrong {n}"), range(50)))
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 45


def test_strangers_with_many_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_page, "MOST_TRIED", 100)
    tries = sign_in_page.Tries()
    begun = [tries.begin(f"{n}{'x' * 10_000}", f"10.0.{n}.1") for n in range(200)]
    assert begun[0] is not None
    assert begun[-1] is None
    assert len(tries._at) <= 102
    assert max(map(len, tries._at)) < 100, "Postgres looks at 63 bytes of a name"


def test_a_try_that_is_not_checked_does_not_count(
    passwords: str, db: Db, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    with monkeypatch.context() as busy:
        busy.setattr(sign_in_page, "MOST_WAITING", 0)
        assert [sign_in(client, ada, "right").status_code for _ in range(6)] == [429] * 6
    assert [sign_in(client, ada, "").status_code for _ in range(6)] == [401] * 6
    assert sign_in(client, ada, "right").status_code == 303


def test_a_password_that_is_right_costs_no_try(passwords: str, db: Db, browse: Open) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    assert [sign_in(client, ada, "right").status_code for _ in range(7)] == [303] * 7


def test_behind_a_proxy_tries_count_by_the_address_that_it_says(
    passwords: str, db: Db, browse: Open
) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS, trust_proxy=True))

    def tried(address: str, password: str) -> int:
        form = {"login": ada, "password": password}
        said = {**FORM, "X-Forwarded-For": f"10.9.9.9, {address}"}
        return client.post("/sign-in", data=form, headers=said, follow_redirects=False).status_code

    assert [tried("10.0.0.1", "wrong") for _ in range(6)] == [401] * 5 + [429]
    assert tried("10.0.0.2", "right") == 303


def test_a_form_to_sign_in_leads_to_no_other_site(passwords: str, db: Db, browse: Open) -> None:
    ada, _ = names(db)
    client = browse(build(passwords, SignIn(passwords), access.LOCAL_HOSTS))
    assert sign_in(client, ada, "right", "//evil.example/").headers["location"] == "/"


def test_passwords_are_checked_over_tcp_only(dsn: str) -> None:
    with pytest.raises(ConfigError, match="over TCP"):
        SignIn(dsn)


# A proxy or an application that says who it is ----------------------------------------------------

PEOPLE = {"ada": "admin", "bob": "operator", "*": "viewer"}


@pytest.fixture
def behind_proxy(dsn: str) -> ASGIApp:
    says = Header("X-Remote-User", ["127.0.0.1/32"], PEOPLE)
    return build(dsn, Trusted(dsn, says), access.LOCAL_HOSTS, trust_proxy=True)


def as_user(name: str) -> dict[str, str]:
    return {"X-Remote-User": name, **FORM}


@pytest.mark.parametrize(("name", "paused"), [("ada", True), ("bob", False), ("eve", False)])
def test_a_proxy_says_who_it_is(
    behind_proxy: ASGIApp, browse: Open, db: Db, name: str, paused: bool
) -> None:
    client = browse(behind_proxy)
    page = client.get("/", headers=as_user(name))
    assert name in page.text
    token = re.search(r'name="csrf" value="([^"]+)"', page.text)
    form = {"csrf": token[1] if token else "", "name": "default"}
    client.post("/do/pause_queue", data=form, headers=as_user(name))
    assert db.execute(PAUSED).fetchone() == (paused,)


def test_events_name_the_person_beside_the_login(
    behind_proxy: ASGIApp, browse: Open, db: Db
) -> None:
    client = browse(behind_proxy)
    token = csrf(client.get("/", headers=as_user("ada")))
    job = db.execute("select qwf.enqueue('t')").fetchone()
    assert job is not None
    form = {"csrf": token, "job_id": str(job[0])}
    client.post("/do/cancel_job", data=form, headers=as_user("ada"))
    query = (
        "select login, acting_for from _qwf.event_log where job_id = %s and kind like '%%cancel%%'"
    )
    found = db.execute(query, job).fetchone()
    assert found is not None
    assert (found[0] != "ada", found[1]) == (True, "ada")


def test_only_the_proxy_is_believed(behind_proxy: ASGIApp, browse: Open) -> None:
    assert browse(behind_proxy, ("10.0.0.1", 1)).get("/", headers=as_user("ada")).status_code == 403
    client = browse(behind_proxy)
    assert client.get("/").status_code == 403
    twice = [("X-Remote-User", "eve"), ("X-Remote-User", "ada")]
    assert client.get("/", headers=twice).status_code == 403


def test_a_session_belongs_to_the_person_it_was_for(
    behind_proxy: ASGIApp, browse: Open, db: Db
) -> None:
    client = browse(behind_proxy)
    token = csrf(client.get("/", headers=as_user("ada")))
    form = {"csrf": token, "name": "default"}
    answer = client.post("/do/pause_queue", data=form, headers=as_user("eve"))
    assert answer.status_code == 401
    assert db.execute(PAUSED).fetchone() == (False,)


def test_the_page_lives_under_a_prefix(behind_proxy: ASGIApp, browse: Open) -> None:
    client = browse(behind_proxy)
    prefixed = {**as_user("ada"), "X-Forwarded-Prefix": "/qwf"}
    assert 'href="/qwf/runs"' in client.get("/qwf/", headers=prefixed).text
    taken_off = client.get("/", headers=prefixed, follow_redirects=False)
    assert taken_off.headers["location"] == "/qwf/"
    assert "path=/qwf" in taken_off.headers["set-cookie"].lower()
    hostile = {**as_user("ada"), "X-Forwarded-Prefix": '"><script>'}
    assert 'href="/runs"' in client.get("/", headers=hostile).text


@pytest.mark.parametrize(
    ("networks", "people", "said"),
    [
        ([], {}, "needs --from"),
        (["10.0.0.0/8/9"], {}, "CIDR"),
        (["127.0.0.1"], {"ada": "amdin"}, "did you mean 'admin'"),
    ],
)
def test_a_proxy_that_is_not_described_is_refused(
    networks: list[str], people: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        Header("X-Remote-User", networks, people)


def test_an_application_around_says_who_it_is(dsn: str, db: Db, browse: Open) -> None:
    async def who(request: Request) -> tuple[str, str] | None:
        name = request.headers.get("authorization")
        return (name, "operator") if name else None

    client = browse(Starlette(routes=[Mount("/queues", create_app(dsn, who))]))
    assert client.get("/queues/").status_code == 403
    page = client.get("/queues/", headers={"Authorization": "ada"})
    assert 'href="/queues/runs"' in page.text
    assert "operator" in page.text
    assert client.get("/queues/static/app.css").status_code == 200


def test_a_login_without_the_roles_of_a_level_says_what_to_grant(
    dsn: str, db: Db, browse: Open
) -> None:
    where = visitors.login(db, dsn, "viewer")
    client = browse(create_app(where, lambda request: ("ada", "admin")))
    answer = client.get("/")
    assert answer.status_code == 403
    assert "grant qwf_admin to web_test_viewer" in answer.text

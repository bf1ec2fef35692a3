"""Logins of Postgres with a password, on a server that people reach over TCP."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from qwf_agent import embedded
from support.proxy import proxy_to
from support.servers import Server

Db = psycopg.Connection[Any]


@contextlib.contextmanager
def passwords(server: Server, db: Db, dsn: str) -> Iterator[str]:
    """Address over TCP of a server that wants the password of ada, and trusts everybody else."""
    assert server.cluster is not None, "this changes pg_hba.conf"
    rules = server.cluster.data / "pg_hba.conf"
    before = rules.read_text(encoding="utf-8")
    ada = f"ada_{secrets.token_hex(4)}"
    bob = f"bob_{secrets.token_hex(4)}"
    db.execute("set password_encryption = 'scram-sha-256'")
    for name in (ada, bob):
        db.execute(sql.SQL("create role {} login password 'right'").format(sql.Identifier(name)))
    db.execute(sql.SQL("grant qwf_admin to {}").format(sql.Identifier(ada)))
    db.execute(sql.SQL("grant qwf_admin to {}").format(sql.Identifier(bob)))
    rules.write_text(f"local all {ada} scram-sha-256\n{before}", encoding="utf-8")
    db.execute("select pg_reload_conf()")
    try:
        with proxy_to(f"{server.host}/.s.PGSQL.{embedded.PORT}") as proxy:
            yield make_conninfo(dsn, host="127.0.0.1", port=proxy.port, sslmode="disable")
    finally:
        rules.write_text(before, encoding="utf-8")
        db.execute("select pg_reload_conf()")
        for name in (ada, bob):
            db.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
            db.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@contextlib.contextmanager
def plain_login(db: Db) -> Iterator[dict[str, str]]:
    """User and password of a login that may only create schemas in the database of this session.
    It is dropped, with all it owns, whatever happens."""
    user, password = f"plain_{secrets.token_hex(4)}", secrets.token_hex(8)
    name = sql.Identifier(user)
    made = sql.SQL("create role {} login password {}").format(name, sql.Literal(password))
    db.execute(made)
    try:
        # who is no superuser has to be a member to drop what it owns
        db.execute(sql.SQL("grant {} to current_user").format(name))
        where = sql.Identifier(db.info.dbname)
        db.execute(sql.SQL("grant create on database {} to {}").format(where, name))
        yield {"user": user, "password": password}
    finally:
        db.execute(sql.SQL("drop owned by {} cascade").format(name))
        db.execute(sql.SQL("drop role {}").format(name))


def names(db: Db) -> tuple[str, str]:
    """The login that needs its password, and the one that the server trusts."""
    rows = db.execute("select rolname from pg_roles where rolname ~ '^(ada|bob)_' order by 1")
    ada, bob = (row[0] for row in rows)
    return ada, bob

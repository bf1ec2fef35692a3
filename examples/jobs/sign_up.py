"""Signs a person up. Row and mail share a transaction, so neither exists without the other."""

import sys

import psycopg
from mailer import send_email

from qwf_agent.config import find_dsn

with psycopg.connect(find_dsn()) as conn:
    conn.execute("create table if not exists people (email text primary key)")
    conn.execute("insert into people values (%s)", (sys.argv[1],))
    print("job", send_email.enqueue(conn, to=sys.argv[1], subject="Welcome"))

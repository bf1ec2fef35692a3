"""Inserts an order and its work, or neither. psycopg.connect() reads the PG* variables."""

import sys

import psycopg
from psycopg.types.json import Jsonb

email = sys.argv[1]
with psycopg.connect() as conn:  # one transaction: committed at the end, or rolled back
    insert = "insert into orders (email) values (%s) returning id"
    [order] = conn.execute(insert, [email]).fetchone()
    conn.execute(
        "select qwf.enqueue('receipt', %s, queue => 'cpu', key => %s)",
        [Jsonb({"order": order}), f"order {order}"],
    )
    [run] = conn.execute("select qwf.enqueue_run('greet', %s)", [Jsonb({"who": email})]).fetchone()
print(run)

"""Documents are tried on databases that one test after the other uses: see support/kept.py."""

from __future__ import annotations

from support.kept_fixtures import connect, db, dsn

__all__ = ["connect", "db", "dsn"]

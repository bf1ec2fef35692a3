"""Tests of the engine share databases and sessions."""

from __future__ import annotations

from support.kept_fixtures import connect, db, dsn

__all__ = ["connect", "db", "dsn"]

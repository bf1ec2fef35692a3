"""Where settings come from: the database address, `qwf.toml`, the home of the embedded server."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

NO_ADDRESS = (
    "no database: give --dsn, set QWF_DSN (or DATABASE_URL, or PGHOST and friends),"
    " or start one on this machine: qwf up"
)
# Variables that say where a database is. PGUSER and PGPASSWORD alone do not.
LOCATION_VARIABLES = {
    "PGSERVICE": "service",
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
}


class ConfigError(Exception):
    """A setting is missing or wrong. The message says what to do."""


def home() -> Path:
    """Directory of the embedded server and its address: `QWF_HOME`, else `~/.qwf`. Raises
    ConfigError if the user has no home directory."""
    try:
        return Path(os.environ.get("QWF_HOME") or "~/.qwf").expanduser().absolute()
    except RuntimeError:
        raise ConfigError("this user has no home directory: set QWF_HOME") from None


def address(home: Path) -> str | None:
    """The address that `qwf up` wrote under `home`, or None."""
    try:
        return (home / "address").read_text(encoding="utf-8").strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def find_dsn(flag: str | None = None) -> str:
    """The database to use, as a libpq address.

    The first of: `flag`, QWF_DSN, DATABASE_URL, PGSERVICE / PGHOST / PGPORT / PGDATABASE, `dsn` in
    qwf.toml, and the address that `qwf up` wrote. There is no other default: a mistyped variable
    must not create a private, empty queue. Raises ConfigError.
    """
    if flag is not None:
        return read_dsn(flag, "--dsn")
    for variable in ("QWF_DSN", "DATABASE_URL"):
        if os.environ.get(variable):
            return read_dsn(os.environ[variable], variable)
    location = {
        key: os.environ[variable]
        for variable, key in LOCATION_VARIABLES.items()
        if os.environ.get(variable)
    }
    if location:
        return make_conninfo("", **location)
    configured = load_toml().get("dsn")
    if configured is not None:
        return read_dsn(str(configured), "dsn in qwf.toml")
    left_by_up = address(home())
    if left_by_up is None:
        raise ConfigError(NO_ADDRESS)
    return left_by_up


def load_toml() -> dict[str, Any]:
    """The contents of qwf.toml: the file that QWF_CONFIG names, else the nearest one in this
    directory or above.

    Returns {} if there is none. Raises ConfigError if it cannot be read.
    """
    path = _toml_path()
    if path is None:
        return {}
    if sys.version_info >= (3, 11):  # imported here: an agent without the file saves the memory
        import tomllib
    else:
        import tomli as tomllib
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return values


def _toml_path() -> Path | None:
    if os.environ.get("QWF_CONFIG"):
        return Path(os.environ["QWF_CONFIG"]).expanduser()
    here = Path.cwd()
    return next((d / "qwf.toml" for d in (here, *here.parents) if (d / "qwf.toml").is_file()), None)


def read_dsn(dsn: str, source: str) -> str:
    """`dsn` without the driver that SQLAlchemy adds (postgresql+psycopg://). `source` says where it
    came from. Raises ConfigError if libpq cannot read it."""
    plain = re.sub(r"^postgres(ql)?\+\w+://", "postgresql://", dsn.strip())
    try:
        if not conninfo_to_dict(plain):
            raise ConfigError(f"{source} is empty. {NO_ADDRESS}")
    except psycopg.ProgrammingError:  # its message may quote the password
        raise ConfigError(
            f"{source} is not a Postgres address:"
            " write postgresql://user@host/database or host=... dbname=..."
        ) from None
    return plain

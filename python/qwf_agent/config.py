"""Where settings come from: the database address, `qwf.toml`, the home of the embedded server."""

from __future__ import annotations

import difflib
import grp
import logging
import os
import pwd
import re
import socket
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

NO_ADDRESS = (
    "no database: give --dsn, set QWF_DSN (or DATABASE_URL, or PGHOST and friends),"
    " or start one on this machine: qwf up"
)
# A name that TOML takes only in quotes, such as [server.models.gemma3:4b].
UNQUOTED_MODEL = re.compile(
    r"""^[ \t]*\[server\.models\.([^\s"'\]]*[^\w.\s"'\]-][^\s"'\]]*)\]""", re.ASCII | re.MULTILINE
)
# Variables that say where a database is. PGUSER and PGPASSWORD alone do not.
LOCATION_VARIABLES = {
    "PGSERVICE": "service",
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
}
VARIABLES = (
    *("QWF_DSN", "QWF_CONFIG", "QWF_HOME", "QWF_DEBUG"),
    "QWF_LINK_SECRET",
    # the options of the agent
    *("QWF_QUEUE", "QWF_SLOTS", "QWF_APP", "QWF_NODES", "QWF_ALLOW_COMMANDS", "QWF_HOST"),
    *("QWF_GPU", "QWF_VRAM_MB", "QWF_MAX_RSS", "QWF_CGROUP", "QWF_LABEL", "QWF_RANK"),
    *("QWF_PROJECT", "QWF_LISTEN_DSN", "QWF_OUT_ROOT", "QWF_GRACE", "QWF_FRESH", "QWF_RELOAD"),
    *("QWF_RECYCLE_JOBS", "QWF_BATCH", "QWF_LEASE", "QWF_POLL", "QWF_WAIT", "QWF_LOG_FORMAT"),
    *("QWF_UNTIL_EMPTY", "QWF_DURABLE_CLAIMS", "QWF_OTEL"),
    # what a command gets from the agent that runs it
    *("QWF_JOB_ID", "QWF_RUN_ID", "QWF_NODE_ID", "QWF_ATTEMPT", "QWF_OUT", "QWF_INPUTS"),
    *("QWF_OUTPUT",),
)
KEYS = ("dsn", "agent", "server", "web", "receiver")  # of qwf.toml
WEB_KEYS = ("people",)  # of [web]

_logger = logging.getLogger(__name__)


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
    """The address that `qwf up` wrote under `home`, or None. Raises ConfigError."""
    file = home / "address"
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None
    return read_dsn(text, str(file)) if text else None


def find_dsn(flag: str | None = None) -> str:
    """The database to use, as a libpq address. Raises ConfigError."""
    return find_address(flag)[0]


def find_address(flag: str | None = None) -> tuple[str, str]:
    """The database to use, as a libpq address, and where the address is from.

    The first of: `flag`, QWF_DSN, DATABASE_URL, PGSERVICE / PGHOST / PGPORT / PGDATABASE, `dsn` in
    qwf.toml, and the address that `qwf up` wrote. There is no other default: a mistyped variable
    must not create a private, empty queue. Raises ConfigError.
    """
    if flag is not None:
        return read_dsn(flag, "--dsn"), "--dsn"
    for variable in ("QWF_DSN", "DATABASE_URL"):
        if os.environ.get(variable):
            return read_dsn(os.environ[variable], variable), variable
    location = {
        key: os.environ[variable]
        for variable, key in LOCATION_VARIABLES.items()
        if os.environ.get(variable)
    }
    if location:
        return make_conninfo("", **location), "the variables PG*"
    configured = load_toml().get("dsn")
    if configured is not None:
        return read_dsn(str(configured), "dsn in qwf.toml"), str(toml_path())
    left_by_up = address(home())
    if left_by_up is None:
        raise ConfigError(NO_ADDRESS)
    return left_by_up, str(home() / "address")


def warn_of_misspelt() -> None:
    """Warn of variables that look like one of ours. Others may belong to other programs."""
    for name in sorted(set(os.environ) - set(VARIABLES)):
        if set(name[:3]) <= set("QWF_") and (meant := close_to(name, VARIABLES, 0.85)):
            _logger.warning("%s is not a variable of qwf: did you mean %s?", name, meant)


def close_to(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known word that is most like `word`, or None if all are less like it than `likeness`.
    A word with two neighbouring letters swapped is always like it."""
    words = list(known)
    swaps = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}
    near = difflib.get_close_matches(word, words, 1, likeness)
    return next(iter([one for one in words if one in swaps] or near), None)


def this_box() -> str:
    """The name under which agents of this box register: QWF_HOST, else `host` of qwf.toml, else the
    host name. Raises ConfigError."""
    named = os.environ.get("QWF_HOST") or load_toml().get("agent", {}).get("host")
    return str(named or socket.gethostname())


def project() -> str:
    """The project of what commands enqueue: QWF_PROJECT, else `project` of qwf.toml, else none. For
    an agent of all projects, '*', it is none. Raises ConfigError."""
    named = os.environ.get("QWF_PROJECT") or load_toml().get("agent", {}).get("project", "")
    return "" if named == "*" else str(named)


def load_toml() -> dict[str, Any]:
    """The contents of qwf.toml, which is at `toml_path()`.

    Returns {} if there is none. Raises ConfigError if it cannot be read or has unknown keys.
    """
    path = toml_path()
    if path is None:
        return {}
    if sys.version_info >= (3, 11):  # imported here: an agent without the file saves the memory
        import tomllib
    else:
        import tomli as tomllib
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        values: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: it is nested too deeply") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        name = UNQUOTED_MODEL.search(text)
        hint = f': put the name of the model in quotes: [server.models."{name[1]}"]' if name else ""
        raise ConfigError(f"{path}: {error}{hint}") from None
    for key in values:
        if key not in KEYS:
            raise ConfigError(
                f"{path}: {unknown_key(key, KEYS)}; the options of an agent go below [agent]"
            )
    if not isinstance(values.get("agent", {}), dict):
        raise ConfigError(f"{path}: agent is not a table: write [agent], and its options below it")
    _check_web(path, values.get("web", {}))
    return values


def _check_web(path: Path, web: Any) -> None:
    """Raise ConfigError unless the table of `qwf web` holds what it knows."""
    if not isinstance(web, dict):
        raise ConfigError(f"{path}: web is not a table: write [web.people], and names below it")
    for key in web:
        if key not in WEB_KEYS:
            raise ConfigError(f"{path}: [web] has an {unknown_key(key, WEB_KEYS)}")
    if not isinstance(web.get("people", {}), dict):
        raise ConfigError(f'{path}: people is not a table: write [web.people], and ada = "admin"')


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Message about a key that does not exist."""
    meant = close_to(key, known)
    return f"unknown key {key!r}: " + (
        f"did you mean {meant!r}?" if meant else f"use one of {', '.join(known)}"
    )


def toml_path() -> Path | None:
    """The file that QWF_CONFIG names, else the nearest qwf.toml in this directory or above.

    One that was found must not be somebody else's, as it names a database, which is sent the
    password, and code to import. Raises ConfigError.
    """
    if os.environ.get("QWF_CONFIG"):
        return Path(os.environ["QWF_CONFIG"]).expanduser()
    here = Path.cwd()
    files = (folder / "qwf.toml" for folder in (here, *here.parents))
    found = next((file for file in files if file.is_file()), None)
    if found is not None:
        _refuse_if_others_can_write(found)
    return found


def _refuse_if_others_can_write(file: Path) -> None:
    """Raise ConfigError unless the file, and the folder it is in, belong to us or to root."""
    real = file.resolve()
    for path in dict.fromkeys((file.parent, real.parent, real)):
        found = path.stat()
        if found.st_uid not in (os.geteuid(), 0):
            wrong = f"{path} belongs to {_name_of(found.st_uid)}"
        elif found.st_mode & stat.S_IWOTH or (
            found.st_mode & stat.S_IWGRP and not _is_private_group(found)
        ):
            wrong = f"others may write {path}"
        else:
            continue
        raise ConfigError(
            f"{file} is not used, because {wrong}: to use it all the same, set QWF_CONFIG={file};"
            " to use none, set QWF_CONFIG=/dev/null"
        )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _is_private_group(found: os.stat_result) -> bool:
    """Return True if the group is that of the owner alone, as on systems that give each user
    one."""
    try:
        group, owner = grp.getgrgid(found.st_gid), pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return False
    return group.gr_name == owner and set(group.gr_mem) <= {owner}


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

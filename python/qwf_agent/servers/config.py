"""The model servers of a box: the tables [[server]] of qwf.toml."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

from qwf_agent.config import ConfigError, close_to, unknown_key

KINDS = {"openai": "/health", "ollama": "/api/version"}  # each with its default health path
PLACEHOLDERS = ("port", "model", "path", "parallel")
# Not of a url.
OF_A_COMMAND = ("command", "stop", "card", "idle", "sleep", "share", "start_timeout", "env")
MINUS_ONE = "minus one"
KEYS = ("name", "kind", *OF_A_COMMAND, "url", "api_key_env", "pull", "health", "parallel", "models")
MODEL_KEYS = ("path", "served_as", "vram_gb", "args")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
LONGEST_MODEL = 200  # characters
MOST_PARALLEL = 10_000
UNITS = {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86400}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)")
LONGEST_S = 366 * 86400.0
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PORTS = {False: 80, True: 443}  # without and with TLS
Table = dict[str, Any]


@dataclass(frozen=True)
class ModelConfig:
    """A model that jobs ask for by `name`. The server knows it by `served_as`, or by the same name.
    `vram_mb` is what it needs of a card, if said."""

    name: str
    path: str | None = None
    vram_mb: int | None = None
    args: tuple[str, ...] = ()
    served_as: str | None = None


class Url(NamedTuple):
    """The address of an external server. `prefix` is the path in front of /v1, /api and the health
    path."""

    secure: bool
    host: str
    port: int
    prefix: str = ""

    @property
    def authority(self) -> str:
        """Host and port as a request names them; the port only if it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.secure] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"http{'s' * self.secure}://{self.authority}{self.prefix}"


@dataclass(frozen=True)
class ServerConfig:
    """One table [[server]]. Times in seconds; `idle` 0: it is never stopped; `start_timeout` None:
    the setting model_load_grace. `url` is that of an external server, `api_key_env` the name of the
    variable that has its key. `pull`: an operator may let it pull a model that it lacks.
    `env`: variables that its command gets besides those of the agent. With `sleep` it sleeps
    instead of being stopped, with `minus_one` it gets one request less while a child uses its
    card."""

    name: str
    models: tuple[ModelConfig, ...]
    kind: str = "openai"
    command: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    url: Url | None = None
    health: str = "/health"
    card: str = "all"
    parallel: int = 4
    idle: float = 300.0
    start_timeout: float | None = None
    api_key_env: str | None = None
    pull: bool = False
    sleep: bool = False
    minus_one: bool = False
    env: tuple[tuple[str, str], ...] = ()

    @property
    def external(self) -> bool:
        """True if it is an address that somebody else runs."""
        return self.url is not None

    @property
    def api_key(self) -> str | None:
        """The key that its requests carry, from the environment of the agent. It stands in no
        database and in no log."""
        return os.environ.get(self.api_key_env) if self.api_key_env else None

    @property
    def one_at_a_time(self) -> bool:
        """True if a process of it serves one model."""
        return any("{model}" in word or "{path}" in word for word in self.command)

    def model(self, name: str | None) -> ModelConfig | None:
        """The model with this name, if it serves it."""
        return next((model for model in self.models if model.name == name), None)

    def vram_mb(self, model: str | None) -> int:
        """Memory that the server needs of its card while it serves this model, or all of them; the
        most that it may need if it has one at a time and that is not known."""
        models = [self.model(model)] if model is not None else self.models
        sizes_mb = [one.vram_mb or 0 for one in models if one is not None]
        return max(sizes_mb, default=0) if self.one_at_a_time else sum(sizes_mb)

    def served_as(self, name: str) -> str:
        """The name by which the server knows a model."""
        model = self.model(name)
        return (model.served_as if model else None) or name

    def announced(self, parallel: int, idle_s: float) -> dict[str, Any]:
        """The server, as a worker registers it."""
        card: str | int = int(self.card) if self.card.isdigit() else self.card
        return {
            "name": self.name,
            "kind": self.kind,
            "external": self.external,
            "parallel": parallel,
            "idle_s": None if self.external else idle_s,
            "card": "none" if self.external else card,
            "models": {model.name: model.vram_mb for model in self.models},
        }


def read_servers(tables: object, source: str = "qwf.toml") -> tuple[ServerConfig, ...]:
    """The servers of the tables [[server]]. Raises ConfigError, which names `source`, the server
    and the key."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{source}: server is not a list of tables: write [[server]]")
    servers = [_read_server(table, source, number) for number, table in enumerate(tables, 1)]
    names = [server.name for server in servers]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{source}: two tables [[server]] have the name {name!r}")
    return tuple(servers)


class _Reader:
    """Takes the values out of one table. What is wrong is said with the file and the table."""

    def __init__(self, table: Table, where: str, known: Iterable[str]) -> None:
        self.where = where
        self._table = table
        for key in table:
            if key not in known:
                self.refuse(unknown_key(key, known))

    def refuse(self, why: str) -> NoReturn:
        """Raise ConfigError."""
        raise ConfigError(f"{self.where}: {why}")

    def has(self, key: str) -> bool:
        """Return True if the table has this key."""
        return key in self._table

    def take(self, key: str, default: Any, fits: Callable[[Any], bool], expected: str) -> Any:
        """The value of a key, or its default."""
        value = self._table.get(key, default)
        if key in self._table and not fits(value):
            self.refuse(f"{key} has to be {expected}, not {json.dumps(value, default=str)}")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty if there is none."""
        return tuple(self.take(key, [], _is_argv, "a list of texts"))

    def seconds(self, key: str, default: float | None) -> float | None:
        """A time: seconds, or a number with its unit."""
        value = self.take(key, default, lambda given: _seconds(given) is not None,
                          'a number of seconds or a text such as "5min"')  # fmt: skip
        return _seconds(value) if key in self._table else default


def _read_server(table: Table, source: str, number: int) -> ServerConfig:
    given = table.get("name")
    shown = repr(given) if isinstance(given, str) else f"number {number}"
    reader = _Reader(table, f"{source}: [[server]] {shown}", KEYS)
    name = reader.take("name", None, _is_name, "1 to 63 letters, digits, dots, dashes or _")
    if name is None:
        reader.refuse("it has no name")
    kind = reader.take("kind", "openai", lambda kind: isinstance(kind, str) and kind in KINDS,
                       " or ".join(KINDS))  # fmt: skip
    command, url = reader.words("command"), _read_url(reader)
    if bool(command) == (url is not None):
        reader.refuse("it needs either a command or a url")
    if url is None:
        _check_placeholders(reader, command)
    config = ServerConfig(
        name, (), kind, command, reader.words("stop"), url,
        reader.take("health", KINDS[kind], _is_path, 'a path such as "/health"'),
        str(reader.take("card", "all", _is_card, 'a number, "all" or "none"')),
        reader.take("parallel", 4, lambda count: _is_count(count, 1, MOST_PARALLEL),
                    f"a whole number from 1 to {MOST_PARALLEL}"),
        reader.seconds("idle", 300.0) or 0.0,
        reader.seconds("start_timeout", None),
        _read_key_name(reader, url),
        reader.take("pull", False, lambda value: isinstance(value, bool), "true or false"),
        reader.take("sleep", False, lambda value: isinstance(value, bool), "true or false"),
        reader.take("share", None, lambda value: value == MINUS_ONE, f'"{MINUS_ONE}"') is not None,
        tuple(reader.take("env", {}, _is_environment,
                          'a table of variables with texts: env = { NAME = "value" }').items()),
    )  # fmt: skip
    if config.pull and kind != "ollama":
        reader.refuse('pull is for kind = "ollama": no other server can be asked to pull a model')
    return _with_models(config, reader)


def _read_url(reader: _Reader) -> Url | None:
    """The address of an external server. A /v1 at its end is left out: requests add it."""
    url = reader.take("url", None, lambda url: isinstance(url, str), "a text")
    if url is None:
        return None
    for key in OF_A_COMMAND:
        if reader.has(key):
            reader.refuse(f"{key} is for a server with a command, this one has a url")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    plain = host and parts.scheme in ("http", "https") and re.fullmatch(r"[!-~]+", url)
    if not plain or parts.query or parts.fragment or parts.username is not None:
        reader.refuse(
            'url has to be like "http://127.0.0.1:11434" or "https://host/prefix", not '
            + json.dumps(re.sub(r"[?#].*", "?***", re.sub(r"//[^/]*@", "//***@", url)))
        )
    secure = parts.scheme == "https"
    prefix = parts.path.rstrip("/").removesuffix("/v1")
    return Url(secure, str(host), port or PORTS[secure], prefix)


def _read_key_name(reader: _Reader, url: Url | None) -> str | None:
    """The name of the environment variable that has the key of an external server."""
    name: str | None = reader.take(
        "api_key_env", None, _is_variable,
        "the name of an environment variable, not the key itself",
    )  # fmt: skip
    if name is not None and url is None:
        reader.refuse("api_key_env is for a server with a url, this one has a command")
    return name


def _check_placeholders(reader: _Reader, command: tuple[str, ...]) -> None:
    for word in re.findall(r"\{([a-z_]+)\}", " ".join(command)):
        if word not in PLACEHOLDERS:
            meant = close_to(word, PLACEHOLDERS)
            hint = (
                f"did you mean {{{meant}}}?" if meant else f"use one of {', '.join(PLACEHOLDERS)}"
            )
            reader.refuse(f"command has an unknown {{{word}}}: {hint}")
    if not any("{port}" in word for word in command):
        reader.refuse("command does not say {port}: the agent chooses where the server listens")


def _with_models(config: ServerConfig, reader: _Reader) -> ServerConfig:
    """The server with its models, which say what its command needs."""
    tables = reader.take("models", {}, _is_tables, "tables: [server.models.NAME]")
    if not tables:
        reader.refuse("it serves no model: add [server.models.NAME] below it")
    wants_path = any("{path}" in word for word in config.command)
    models = []
    for name, table in tables.items():
        if not 1 <= len(name) <= LONGEST_MODEL or not name.isprintable():
            reader.refuse(f"the model {name[:40]!r} needs 1 to {LONGEST_MODEL} plain characters")
        if (whole := _whole_name(name, table)) != name:
            quoted = json.dumps(whole)
            reader.refuse(f"put the name of the model in quotes: [server.models.{quoted}]")
        of_model = _Reader(table, f"{reader.where}, model {name!r}", MODEL_KEYS)
        models.append(_read_model(name, of_model, wants_path, config.one_at_a_time))
    return ServerConfig(**{**vars(config), "models": tuple(models)})


def _whole_name(name: str, table: Table) -> str:
    """The name as it was meant: without quotes, each dot in it begins another table."""
    inner = next((key for key, value in table.items() if isinstance(value, dict)), None)
    return name if inner is None else _whole_name(f"{name}.{inner}", table[inner])


def _read_model(name: str, reader: _Reader, wants_path: bool, own: bool) -> ModelConfig:
    path = reader.take("path", None, _is_text, "a text")
    if wants_path != (path is not None):
        reader.refuse("path is missing: the command says {path}" if wants_path else
                      "path is of no use: the command does not say {path}")  # fmt: skip
    if reader.has("args") and not own:
        reader.refuse(
            "args need a command with {model} or {path}, which serves one model at a time"
        )
    vram_gb = reader.take("vram_gb", None, lambda size: _is_number(size) and 0 < size < 1e6,
                          "a number of GiB above 0")  # fmt: skip
    vram_mb = None if vram_gb is None else round(vram_gb * 1024)
    served_as = reader.take("served_as", None, _is_text, "a text")
    return ModelConfig(name, path, vram_mb, reader.words("args"), served_as)


def _seconds(value: object) -> float | None:
    """Seconds of a time as qwf.toml writes it; None if it is none."""
    found = DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None:
        seconds = float(found[1]) * UNITS[found[2]]
    elif _is_number(value):
        seconds = float(value)  # type: ignore[arg-type]
    else:
        return None
    return seconds if 0 <= seconds <= LONGEST_S else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_card(value: object) -> bool:
    return value in ("all", "none") or _is_count(value, 0, 999)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _is_environment(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_variable(name) and isinstance(text, str) and "\0" not in text
        for name, text in value.items()
    )


def _is_variable(value: object) -> bool:
    return isinstance(value, str) and VARIABLE.fullmatch(value) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _is_argv(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(word, str) and "\0" not in word for word in value
    )


def _is_path(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"/[!-~]*", value) is not None


def _is_tables(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(table, dict) for table in value.values())

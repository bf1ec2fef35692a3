"""The tables [[server]] of qwf.toml: what they say, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qwf_agent.agent.lanes import count
from qwf_agent.agent.options import AgentOptions
from qwf_agent.config import ConfigError
from qwf_agent.servers.config import read_servers
from support.harness import run_agent

COMMAND = ["serve", "{path}", "--port", "{port}"]
TABLE = {"name": "llama", "command": COMMAND, "models": {"tiny": {"path": "/tiny.gguf"}}}
URL = {"name": "ours", "url": "http://10.0.0.5:11434", "models": {"tiny": {}}}


def test_a_table_has_defaults() -> None:
    (server,) = read_servers([TABLE])
    assert (server.kind, server.health, server.card) == ("openai", "/health", "all")
    assert (server.parallel, server.idle, server.start_timeout) == (4, 300, None)
    assert server.one_at_a_time
    assert not server.external


def test_a_table_says_everything() -> None:
    model = {"path": "/q", "vram_gb": 9.5, "args": ["--max-model-len", "16384"]}
    table = {**TABLE, "card": 0, "parallel": 8, "idle": "5min", "start_timeout": "20 min",
             "stop": ["docker", "stop", "x"], "env": {"OLLAMA_MODELS": "/models"},
             "models": {"qwen": model}}  # fmt: skip
    (server,) = read_servers([table])
    assert (server.card, server.parallel, server.idle, server.start_timeout) == ("0", 8, 300, 1200)
    assert server.stop == ("docker", "stop", "x")
    assert server.env == (("OLLAMA_MODELS", "/models"),)
    assert server.announced(8, 300)["models"] == {"qwen": 9728}
    assert server.models[0].args == ("--max-model-len", "16384")


@pytest.mark.parametrize("env", [{"A B": "x"}, {"A": 1}, {"A": "\0"}, ["A=x"], {"": "x"}])
def test_variables_are_names_and_texts(env: object) -> None:
    with pytest.raises(ConfigError, match="env has to be a table of variables with texts"):
        read_servers([{**TABLE, "env": env}])
    with pytest.raises(ConfigError, match="env is for a server with a command"):
        read_servers([{**URL, "env": {"A": "x"}}])


def test_an_address_is_of_somebody_else() -> None:
    (server,) = read_servers([{**URL, "kind": "ollama", "pull": True}])
    assert server.external
    assert server.pull
    assert server.url == (False, "10.0.0.5", 11434, "")
    assert server.health == "/api/version"
    assert not server.one_at_a_time


@pytest.mark.parametrize(
    ("url", "read", "shown"),
    [
        ("https://box", (True, "box", 443, ""), "https://box"),
        ("https://box:8443/v1", (True, "box", 8443, ""), "https://box:8443"),
        ("https://box/llm/v1/", (True, "box", 443, "/llm"), "https://box/llm"),
        ("http://box/", (False, "box", 80, ""), "http://box"),
        ("http://[::1]:80", (False, "::1", 80, ""), "http://[::1]"),
    ],
)
def test_an_address_may_have_tls_and_a_prefix(url: str, read: object, shown: str) -> None:
    (server,) = read_servers([{**URL, "url": url}])
    assert server.url == read
    assert str(server.url) == shown


def test_a_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    (server,) = read_servers([{**URL, "api_key_env": "OUR_KEY"}])
    monkeypatch.delenv("OUR_KEY", raising=False)
    assert server.api_key is None
    monkeypatch.setenv("OUR_KEY", "sk-1")
    assert server.api_key == "sk-1"
    assert "sk-1" not in repr(server)


@pytest.mark.parametrize("text", ["90s", "1.5 min", 90, "90000ms"])
def test_a_time_has_a_unit_or_is_seconds(text: Any) -> None:
    assert read_servers([{**TABLE, "idle": text}])[0].idle == 90


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"idel": 3}, "unknown key 'idel': did you mean 'idle'?"),
        ({"kind": "vllm"}, 'kind has to be openai or ollama, not "vllm"'),
        ({"name": "a b"}, "name has to be"),
        ({"parallel": 0}, "parallel has to be a whole number from 1 to 10000, not 0"),
        ({"parallel": True}, "parallel has to be"),
        ({"idle": "5 minutes"}, "idle has to be a number of seconds"),
        ({"idle": -1}, "idle has to be"),
        ({"card": "gpu0"}, 'card has to be a number, "all" or "none"'),
        ({"command": "serve {port}"}, "command has to be a list of texts"),
        ({"command": ["serve", "{path}"]}, "command does not say {port}"),
        ({"command": [*COMMAND, "{modell}"]}, "unknown {modell}: did you mean {model}?"),
        ({"command": ["serve", "{port}"]}, "model 'tiny': path is of no use"),
        ({"url": "http://box"}, "command is for a server with a command, this one has a url"),
        ({"models": {}}, "it serves no model"),
        ({"models": {"tiny": {}}}, "model 'tiny': path is missing"),
        ({"models": {"tiny": {"path": "/t", "vram": 1}}}, "unknown key 'vram'"),
        ({"models": {"tiny": {"path": "/t", "served_as": ""}}}, "served_as has to be a text"),
        ({"models": {"qwen2": {"5": {"path": "/t"}}}}, 'in quotes: [server.models."qwen2.5"]'),
        ({"models": {"tiny": {"path": "/t", "vram_gb": 0}}}, "vram_gb has to be"),
        ({"pull": True}, 'pull is for kind = "ollama"'),
        ({"api_key_env": "KEY"}, "api_key_env is for a server with a url"),
        ({"share": 1}, 'share has to be "minus one", not 1'),
        ({"sleep": "yes"}, 'sleep has to be true or false, not "yes"'),
    ],
    ids=str,
)
def test_a_wrong_table_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_servers([{**TABLE, **change}], "/box/qwf.toml")
    assert str(caught.value).startswith("/box/qwf.toml: [[server]] ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"url": "ftp://box"}, 'url has to be like "http://127.0.0.1:11434"'),
        ({"url": "http://box:99999"}, "url has to be like"),
        ({"url": "http://box/v1?key=3"}, "url has to be like"),
        ({"url": "http://me:secret@box"}, 'not "http://***@box"'),
        ({"url": "http://b\u00f6x"}, "url has to be like"),
        ({"kind": "ollama", "pull": "yes"}, "pull has to be true or false"),
        ({"api_key_env": "sk-123"}, "api_key_env has to be the name of an environment variable"),
        ({"idle": 5}, "idle is for a server with a command"),
        ({"models": {"tiny": {"args": ["x"]}}}, "args need a command"),
        ({"url": None}, "url has to be a text"),
    ],
    ids=str,
)
def test_a_wrong_address_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_servers([{**URL, **change}])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"name": "x"}, "write [[server]]"),
        ([{"command": COMMAND}], "[[server]] number 1: it has no name"),
        ([{"name": "x", "models": {"m": {}}}], "it needs either a command or a url"),
        ([TABLE, TABLE], "two tables [[server]] have the name 'llama'"),
    ],
    ids=str,
)
def test_wrong_tables_are_refused(tables: object, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_servers(tables)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("queues", "slots", "number"),
    [(("llm",), None, 12), (("llm", "cpu"), None, 13), (("llm", "gpu"), None, 14),
     (("llm",), 3, 3)],
    ids=str,
)  # fmt: skip
def test_an_agent_has_a_slot_for_each_request(
    queues: tuple[str, ...], slots: int | None, number: int
) -> None:
    servers = read_servers([{**TABLE, "parallel": 8}, URL])
    options = AgentOptions("", queues, "box", Path("/out"), slots, servers=servers)
    assert count(options, [0, 1]) == number


@pytest.mark.parametrize(
    ("queues", "of_cards"),
    [(("llm",), set()), (("llm", "cpu"), {"cpu"}), (("llm", "gpu", "cpu"), {"gpu"})],
    ids=str,
)
def test_jobs_of_the_queue_never_need_a_card(queues: tuple[str, ...], of_cards: set[str]) -> None:
    assert AgentOptions("", queues, "box", Path("/out"), gpu="0").gpu_queues == of_cards


def test_an_agent_of_the_queue_says_what_is_wrong_and_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "qwf.toml").write_text('dsn = "host=/nowhere"\n[[server]]\nname = "x"\n')
    code, said = run_agent(tmp_path, "--queue", "llm")
    assert (code, "[[server]] 'x': it needs either a command or a url" in said) == (78, True)
    code, said = run_agent(tmp_path, "--queue", "cpu")
    assert (code, "nothing to run" in said) == (78, True), "its own queue has no servers"

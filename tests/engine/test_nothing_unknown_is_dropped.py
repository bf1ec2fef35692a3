"""Nothing that is given is dropped without a word: an unknown key is refused, with the right one.

An entry is one place where known words are given: the keys of a kind of object in a definition,
the arguments of a task, the options of a command, the names of the queues. Add an entry for each
further place. For each entry one known word at a time is misspelt: the refusal must name what was
given, and suggest a word that is as near, or list the words.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints
from unittest import mock

import click
import psycopg
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from qwf_agent import App, config, runs
from qwf_agent.__main__ import command as agent_command
from qwf_agent.app.options import Options, RunOptions
from qwf_agent.app.workflows import keys, node, pipeline, question, ref, step, workflow
from qwf_agent.app.workflows.references import ReferenceKeys
from qwf_agent.child.body import Body, WrongArguments
from qwf_agent.cli import definition_files
from qwf_agent.cli import qwf as command_line

Connection = psycopg.Connection[Any]
Way = str | int

DEFS = json.loads(definition_files.schema())["$defs"]
PIPELINE = {
    "name": "p",
    "inputs": {"type": "object", "properties": {"x": {"type": "string"}}},
    "nodes": [
        {"id": "a", "retry": {"backoff": {"base": 1}}, "inputs": [{"name": "i", "from": "k.v"}]},
        {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x", "$default": 1}}},
        {"id": "c", "inputs": {"x": {"$coalesce": [1], "$default": 1}}},
    ],
}
WIDGETS: dict[str, dict[str, Any]] = {
    "choose_one": {"options": [1]},
    "turnout": {"options": [1]},
    **{widget: {} for widget in ("confirm", "text", "number", "file", "json")},
}
WORKFLOW = {
    "name": "w",
    "steps": [
        {"id": "s", "kind": "pipeline", "pipeline": "q", "inputs": {"image": 1, "score": 2}},
        *(
            {"id": widget, "kind": "input", "widget": widget, "schema": {}, **keys}
            for widget, keys in WIDGETS.items()
        ),
    ],
}
WIDGET_KEYS = {"turnout": "widget_choose_one"}
CALLED = {
    "name": "q",
    "inputs": {"type": "object", "properties": {"image": {}, "score": {}}},
    "nodes": [],
}
JOB = [
    "task", "args", "queue", "priority", "run_at", "key", "max_attempts", "backoff", "timeout",
    "model", "vram_mb", "requires", "limit_by", "on_failure", "expires", "project", "labels",
    "once", "max_losses", "at_most_once",
]  # fmt: skip


REPORT = [
    "reason", "exit_code", "signal", "max_rss_bytes", "cpu_seconds", "gpu_peak_bytes", "log_tail",
    "host", "files", "readings", "retry_after_s", "usage",
]  # fmt: skip
WORKER = [
    "pid", "version", "slots", "tasks", "models", "current_model", "vram_mb", "labels", "rank",
    "project", "cards", "task_options", "writes_begun",
]  # fmt: skip
SAMPLE = [
    "cpu_percent", "cpu_ours_percent", "ram_percent", "ram_used_mb", "ram_total_mb",
    "ram_ours_used_mb", "swap_used_mb", "gpus",
]  # fmt: skip

Give = Callable[[str | None, str], str]


class Entry(NamedTuple):
    """One place: the keys that may be given there, and a call that gives one more or another key.

    `give` takes a key to leave out (or None) and one to add; it returns the text of the refusal.
    """

    keys: list[str]
    give: Give


class Places(dict[str, Entry]):
    """Every entry by its name; printed in short."""

    def __repr__(self) -> str:
        return f"<{len(self)} entries>"


def at(value: Any, path: tuple[Way, ...]) -> Any:
    for way in path:
        value = value[way]
    return value


def changed(value: Any, path: tuple[Way, ...], old: str | None, new: str) -> Any:
    """A copy of a value in which the object at a path has `new`, in place of `old` if it has it."""
    result = copy.deepcopy(value)
    target = at(result, path)
    target[new] = target.pop(old, 1)
    return result


def refusal(db: Connection, query: str, *values: Any) -> str:
    """Everything that the error says; the empty text if there was none."""
    try:
        with db.transaction(force_rollback=True):
            db.execute(query, values)
    except psycopg.Error as error:
        if error.sqlstate not in ("QW003", "QW005"):
            raise
        return f"{error.diag.message_detail}\n{error.diag.message_hint}"
    return ""


def keys_of(*names: str) -> list[str]:
    """The keys of these objects, in the JSON Schema of definitions."""
    return [key for name in names for key in DEFS.get(name, {}).get("properties", {})]


def definition_entries(db: Connection, folder: Path) -> Iterator[tuple[str, Entry]]:

    def defined(kind: str, definition: Any, *path: Way) -> Give:
        query = f"select qwf.register_{kind}(%s)"
        assert refusal(db, query, Jsonb(definition)) == ""
        return lambda old, new: refusal(db, query, Jsonb(changed(definition, path, old, new)))

    def applied(definition: Any, suffix: str, *path: Way) -> Give:
        file = folder / f"definition.{suffix}"

        def give(old: str | None, new: str) -> str:
            content = changed(definition, path, old, new)
            file.write_text(yaml.safe_dump(content) if suffix == "yaml" else json.dumps(content))
            try:
                definition_files.register(db, definition_files.load(file))
            except definition_files.DefinitionError as error:
                return "\n".join(error.lines)
            return ""

        return give

    def enqueued(make: Callable[[str | None, str], Any]) -> Give:
        query = "select qwf.enqueue_many(%s)"
        return lambda old, new: refusal(db, query, Jsonb([make(old, new)]))

    node = ("nodes", 0)
    yield "pipeline", Entry(keys_of("pipeline"), defined("pipeline", PIPELINE))
    yield "node", Entry(keys_of("node"), defined("pipeline", PIPELINE, *node))
    yield "retry", Entry(keys_of("retry"), defined("pipeline", PIPELINE, *node, "retry"))
    yield (
        "backoff",
        Entry(keys_of("backoff"), defined("pipeline", PIPELINE, *node, "retry", "backoff")),
    )
    yield "input", Entry(keys_of("input"), defined("pipeline", PIPELINE, *node, "inputs", 0))
    yield (
        "schema of an input",
        Entry(keys_of("schema"), defined("pipeline", PIPELINE, "inputs", "properties", "x")),
    )
    yield (
        "reference",
        Entry(["$from", "$default", "$filter", "$eq", "$ne"],
              defined("pipeline", PIPELINE, "nodes", 1, "inputs", "x")),
    )  # fmt: skip
    yield (
        "coalesce",
        Entry(["$coalesce", "$default"], defined("pipeline", PIPELINE, "nodes", 2, "inputs", "x")),
    )
    steps = keys_of("step", "not_on_a_step")
    yield "workflow", Entry(keys_of("workflow"), defined("workflow", WORKFLOW))
    yield (
        "step of kind pipeline",
        Entry([*steps, *keys_of("pipeline_step")], defined("workflow", WORKFLOW, "steps", 0)),
    )
    yield (
        "inputs of a step",
        Entry(["image", "score"], defined("workflow", WORKFLOW, "steps", 0, "inputs")),
    )
    assert {*WIDGETS} == {*DEFS["widget"]["enum"]}
    for place, widget in enumerate(WIDGETS, 1):
        yield (
            f"widget {widget}",
            Entry([*steps, *keys_of("input_step", WIDGET_KEYS.get(widget, f"widget_{widget}"))],
                  defined("workflow", WORKFLOW, "steps", place)),
        )  # fmt: skip
    yield (
        "schema of an answer",
        Entry(keys_of("schema"), defined("workflow", WORKFLOW, "steps", 1, "schema")),
    )
    for suffix in ("json", "yaml"):
        yield f"node in {suffix}", Entry(keys_of("node"), applied(PIPELINE, suffix, *node))
    yield (
        "job of a list",
        Entry(JOB, enqueued(lambda old, new: changed({"task": "t"}, (), old, new))),
    )
    yield (
        "backoff of a job",
        Entry(keys_of("backoff"), enqueued(
            lambda old, new: {"task": "t", "backoff": changed({"base": 1}, (), old, new)})),
    )  # fmt: skip


def worker_entries(db: Connection) -> Iterator[tuple[str, Entry]]:
    """JSON that workers and administrators send."""

    def sent(query: str, base: dict[str, Any]) -> Give:
        return lambda old, new: refusal(db, query, Jsonb(changed(base, (), old, new)))

    def reported(old: str | None, new: str) -> str:
        report = {"job_id": 1, "outcome": "completed"}
        query = "select qwf.finish_many(%s)"
        return refusal(db, query, Jsonb([changed(report, (), old, new)]))

    def reported_with_a_claim(old: str | None, new: str) -> str:
        report = {"job_id": 1, "outcome": "completed"}
        query = "select qwf.finish_and_claim(%s, 'default', 'w')"
        return refusal(db, query, Jsonb([changed(report, (), old, new)]))

    def detailed(old: str | None, new: str) -> str:
        """The WARNING: the report counts, as how the body ended matters more."""
        said: list[str] = []

        def listen(notice: psycopg.errors.Diagnostic) -> None:
            said.append(f"{notice.severity} {notice.message_detail} {notice.message_hint}")

        db.add_notice_handler(listen)
        try:
            with db.transaction(force_rollback=True):
                db.execute("select qwf.enqueue('reported')")
                db.execute(
                    "select qwf.finish(c.job_id, c.token, 'completed', detail => %s)"
                    " from qwf.claim('default', 'box', 1) c",
                    [Jsonb({new: 1})],
                )
        finally:
            db.remove_notice_handler(listen)
        return "\n".join(line for line in said if line.startswith("WARNING"))

    names = [row[0] for row in db.execute("select name from qwf.setting_overview").fetchall()]
    worker = db.execute("select qwf.register_worker('box-cellar', 'cpu')").fetchall()[0][0]
    yield "worker", Entry(WORKER, sent("select qwf.register_worker('box', 'cpu', %s)", {}))
    yield (
        "change of a worker",
        Entry(
            ["tasks", "task_options", "models"],
            sent(f"select qwf.update_worker('{worker}', %s)", {}),
        ),
    )
    keys = ["job_id", "token", "outcome", "output", "error", "detail"]
    yield "report", Entry(keys, reported)
    yield "report with a claim", Entry(keys, reported_with_a_claim)
    yield "detail of a report", Entry(REPORT, detailed)
    yield "sample", Entry(SAMPLE, sent("select qwf.report_metrics('box', %s)", {}))
    yield "setting", Entry(names, sent("select qwf.change_settings(%s)", {}))
    yield (
        "backoff of a setting",
        Entry(
            ["base", "factor", "max"],
            lambda old, new: refusal(
                db,
                "select qwf.change_settings(%s)",
                Jsonb({"error_backoff": changed({"base": 1}, (), old, new)}),
            ),
        ),
    )


def python_entries() -> Iterator[tuple[str, Entry]]:
    """Functions that user code calls, and those of user code that an agent calls."""
    app = App()

    @app.task()
    def send(to: int, subject: int, job: Any = None) -> None: ...

    def raised(call: Callable[[dict[str, Any]], Any], base: dict[str, Any]) -> Give:
        def give(old: str | None, new: str) -> str:
            try:
                call(changed(base, (), old, new))
            except (TypeError, WrongArguments) as error:
                return str(error)
            return ""

        return give

    def in_a_worker(given: dict[str, Any]) -> None:
        Body(send.function)(mock.Mock(inputs=given))

    both, connection = {"to": 1, "subject": 2}, mock.Mock(side_effect=AssertionError)
    options = [*get_type_hints(Options)]
    yield "argument", Entry([*both], raised(lambda given: send.enqueue(connection, **given), both))
    yield "statement", Entry([*both], raised(lambda given: send.statement(**given), both))
    yield "job of many", Entry([*both], raised(lambda given: send.job(**given), both))
    yield "argument in a worker", Entry([*both], raised(in_a_worker, both))
    yield "option", Entry(options, raised(lambda given: send.options(**given), {}))
    yield "option of a task", Entry(options, raised(lambda given: app.task(**given), {}))
    run = raised(lambda given: runs.enqueue(connection, "greet", {}, **given), {})
    yield "option of a run", Entry([*get_type_hints(RunOptions)], run)
    yield from written_entries(raised)


def written_entries(
    raised: Callable[[Callable[[dict[str, Any]], Any], dict[str, Any]], Give],
) -> Iterator[tuple[str, Entry]]:
    """The keys of definitions that are written in Python."""

    def called(definition: Any, call: Callable[..., Any], *names: str) -> Give:
        def build(given: dict[str, Any]) -> None:
            def function() -> None:
                call("a", *names, **given)

            definition("x")(function).compile()

        return raised(build, {})

    yield "node in Python", Entry([*keys.NODE.known], called(pipeline, node))
    yield "step in Python", Entry([*keys.STEP.known], called(workflow, step, "p"))
    for widget, kind in keys.WIDGETS.items():
        yield f"{widget} in Python", Entry([*kind.known], called(workflow, question, widget))
    for make, kind in ((pipeline, keys.PIPELINE), (workflow, keys.WORKFLOW)):
        give = raised(lambda given, make=make: make("x", **given), {})
        yield f"{make.__name__} in Python", Entry([*kind.known], give)
    reference = raised(lambda given: ref("a", **given), {})
    yield "reference in Python", Entry([*ReferenceKeys.__annotations__], reference)


def configuration_entries(folder: Path) -> Iterator[tuple[str, Entry]]:
    """The environment and qwf.toml."""
    file = folder / "qwf.toml"
    options = [
        flag.removeprefix("--")
        for option in agent_command.params
        for flag in option.opts
        if flag.startswith("--") and option.expose_value
    ]

    def in_the_environment(_old: str | None, new: str) -> str:
        said: list[str] = []
        listener = logging.Handler()
        listener.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
        logger = logging.getLogger("qwf_agent.config")
        logger.addHandler(listener)
        try:
            with mock.patch.dict(os.environ, {new: "1"}):
                config.warn_of_misspelt()
        finally:
            logger.removeHandler(listener)
        return "\n".join(said)

    def in_the_file(table: str) -> Give:
        def give(_old: str | None, new: str) -> str:
            file.write_text(f"{table}\n{json.dumps(new)} = 1\n")
            try:
                with mock.patch.dict(os.environ, {"QWF_CONFIG": str(file)}):
                    agent_command.make_context("agent", [])
            except click.ClickException as error:
                return error.message
            return ""

        return give

    yield "variable", Entry([*config.VARIABLES], in_the_environment)
    yield "qwf.toml", Entry([*config.KEYS], in_the_file(""))
    yield "agent in qwf.toml", Entry(options, in_the_file("[agent]"))


def said_by(*words: str, dsn: str | None = None) -> str:
    """Output of a command, which has to fail or to add a note."""
    with mock.patch.dict(os.environ, {"QWF_DSN": dsn} if dsn else {}):
        result = CliRunner().invoke(command_line, [*words])
    if not isinstance(result.exception, SystemExit | None):
        traceback.print_exception(result.exception)
        raise AssertionError(words) from result.exception
    return result.output if result.exit_code in (1, 2) or "note:" in result.output else ""


def commands(command: click.Command, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every command by the words that lead to it."""
    found = {path: command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found |= commands(child, (*path, name))
    return found


COMMANDS = commands(command_line)


def command_entries() -> Iterator[tuple[str, Entry]]:
    """The verbs of every group, and the options of every command."""

    def verb(path: tuple[str, ...]) -> Give:
        return lambda _old, new: said_by(*path, new)

    def option(path: tuple[str, ...]) -> Give:
        return lambda _old, new: said_by(*path, f"--{new}")

    for path, command in COMMANDS.items():
        context = click.Context(command, help_option_names=["--help"])
        flags = [flag for param in command.get_params(context) for flag in param.opts]
        known = [flag.removeprefix("--") for flag in flags if flag.startswith("--")]
        yield f"options of {' '.join(path) or 'qwf'}", Entry(known, option(path))
        if isinstance(command, click.Group):
            verbs = command.list_commands(context)
            yield f"commands of {' '.join(path) or 'qwf'}", Entry(verbs, verb(path))


# Known names, and the commands that take each in the place of NAME.
NAMED = {
    "thumbnails": [
        "queue pause NAME", "queue resume NAME", "enqueue t --queue NAME", "submit --queue NAME x",
        "schedule add s --task t --every 1h --queue NAME", "jobs --queue NAME",
        "cancel job --queue NAME", "retry job --failed --queue NAME", "workers --queue NAME",
        "worker on --host box-cellar --queue NAME", "worker off --host box-cellar --queue NAME",
        "worker load painter --host box-cellar --queue NAME", "change JOB --queue NAME",
    ],
    "holiday_pictures": [
        "run NAME", "run NAME@1", "schedule add s --workflow NAME --every 1h",
        "runs --workflow NAME", "cancel run --workflow NAME", "retry run --failed --workflow NAME",
    ],
    "caption": ["run holiday_pictures --set NAME=1"],
    "letters": ["limit drop NAME", "enqueue t --limit-by NAME"],
    "nightly": ["schedule drop NAME", "schedule enable NAME", "schedule disable NAME"],
    "send_letter": [
        "enqueue NAME --queue thumbnails",
        "schedule add s --task NAME --queue thumbnails --every 1h", "jobs --task NAME --queue gpu",
        "cancel job --task NAME --queue gpu", "retry job --failed --task NAME",
    ],
    "lease": ["settings NAME", "settings NAME 1min", "settings NAME --reset"],
    "box-cellar": [
        "workers --host NAME", "worker on --host NAME --queue thumbnails", "worker on --host NAME",
        "worker drain --host NAME", "worker load painter --host NAME --queue thumbnails",
    ],
    "painter": [
        "worker load NAME --host box-cellar --queue thumbnails",
        "worker unload NAME --host box-cellar --queue thumbnails",
        "enqueue send_letter --queue thumbnails --model NAME",
    ],
    "choose": ["answer RUN NAME 1", "retry run OVER --from NAME"],
    "WORKER": ["worker forget NAME"],
    "running": ["jobs --status NAME", "runs --status NAME", "cancel job --status NAME"],
    "Europe/Berlin": ["schedule add s --task t --cron @daily --timezone NAME"],
    "snapshots": ["doctor --only NAME"],
    "functions/claim/claim": ["migrate deploy --to NAME", "migrate revert --yes --to NAME"],
}  # fmt: skip


def name_entries(db: Connection, dsn: str) -> Iterator[tuple[str, Entry]]:
    """The names that commands take."""
    for query in (
        """select qwf.change_settings('{"worker_stale": "1 hour"}')""",
        "select qwf.create_queue('thumbnails')",
        "select qwf.create_limit('letters', 2)",
        "select qwf.create_schedule('nightly', task => 't', every => '1 day')",
        """select qwf.register_workflow('{"name": "holiday_pictures", "steps": [
          {"id": "choose", "kind": "input", "widget": "json",
           "prompt": {"$from": "caption", "$default": "Which?"}}]}')""",
    ):
        db.execute(query)
    ((worker,),) = db.execute(
        """select qwf.register_worker('box-cellar', 'thumbnails',
          '{"tasks": ["send_letter"], "models": ["painter"]}')"""
    ).fetchall()
    ((run,), (over,)) = (
        db.execute("select qwf.enqueue_run('holiday_pictures')").fetchall()[0] for _ in range(2)
    )
    db.execute("select qwf.cancel_run(%s)", [over])
    ((job,),) = db.execute("select qwf.enqueue('t', run_at => 'infinity')").fetchall()
    places = {"RUN": str(run), "OVER": str(over), "JOB": str(job), "WORKER": str(worker)}

    def named(pattern: str) -> Give:
        def give(_old: str | None, new: str) -> str:
            words = [places.get(word, word.replace("NAME", new)) for word in pattern.split()]
            return said_by(*words, dsn=dsn)

        return give

    for right, patterns in NAMED.items():
        for pattern in patterns:
            yield pattern, Entry([places.get(right, right)], named(pattern))


NAMES = [
    "pipeline", "node", "retry", "backoff", "input", "schema of an input", "reference", "coalesce",
    "workflow", "step of kind pipeline", "inputs of a step",
    *(f"widget {widget}" for widget in WIDGETS),
    "schema of an answer", "node in json", "node in yaml", "job of a list", "backoff of a job",
    "worker", "change of a worker", "report", "report with a claim", "detail of a report",
    "sample", "setting", "backoff of a setting",
    "argument", "statement", "job of many", "argument in a worker", "option", "option of a task",
    "option of a run", "node in Python", "step in Python",
    *(f"{widget} in Python" for widget in WIDGETS),
    "pipeline in Python", "workflow in Python", "reference in Python",
    "variable", "qwf.toml", "agent in qwf.toml",
]  # fmt: skip
# These call the command line, which takes longer.
OF_COMMANDS = [
    *(name for name, _ in command_entries()),
    *(pattern for patterns in NAMED.values() for pattern in patterns),
]


@pytest.fixture(scope="module")
def places(
    server: Any, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Places]:
    with (
        server.database(server.new_name(), template) as janitor,
        psycopg.connect(server.dsn(janitor.dbname), autocommit=True) as db,
    ):
        db.execute("select qwf.register_pipeline(%s)", [Jsonb(CALLED)])
        folder = tmp_path_factory.mktemp("definitions")
        yield Places(
            [
                *definition_entries(db, folder),
                *worker_entries(db),
                *python_entries(),
                *configuration_entries(folder),
                *command_entries(),
                *name_entries(db, server.dsn(janitor.dbname)),
            ]
        )


def mistakes(key: str) -> list[str]:
    """The key after each mistake of one letter: one left out, doubled, or two swapped."""
    found = [
        made
        for n in range(len(key))
        for made in (
            key[:n] + key[n + 1 :],
            key[: n + 1] + key[n:],
            key[:n] + key[n + 1 : n + 2] + key[n] + key[n + 2 :],
        )
    ]
    return sorted({made for made in found if made.strip("$") and made != key})


def distance(a: str, b: str) -> int:
    """How many letters to leave out, add, replace or swap, to get from one text to the other."""
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                rows[i][j] = i + j
                continue
            best = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            )
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i][j] = best
    return rows[-1][-1]


def test_every_entry_is_tested(places: Places) -> None:
    assert [*places] == [*NAMES, *OF_COMMANDS]


@pytest.fixture
def entry(places: Places, request: pytest.FixtureRequest) -> Entry:
    return places[request.param]


def check_misspelt(entry: Entry, data: st.DataObject) -> None:
    """One known word after one mistake is refused with a word that is as near, or with them all."""
    keys, give = entry
    right = data.draw(st.sampled_from(sorted(keys)))
    wrong = data.draw(st.sampled_from([m for m in mistakes(right) if m not in keys]))
    said = give(right, wrong)
    assert wrong in said
    meant = [
        one.strip("-'\"").removeprefix("--")
        for suggested in re.findall(r"[Dd]id you mean (?:one of: )?(.*?)[?]", said)
        for one in suggested.split(", ")
    ]
    if meant:
        assert any(distance(wrong, m) <= distance(wrong, right) for m in meant), said
    else:
        assert re.search(rf"(?<![$\w]){re.escape(right)}(?!\w)", said), said


SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("entry", NAMES, indirect=True)
@settings(SETTINGS, max_examples=12)
@given(data=st.data())
def test_a_misspelt_key_is_refused_with_the_right_one(entry: Entry, data: st.DataObject) -> None:
    check_misspelt(entry, data)


@pytest.mark.parametrize("entry", OF_COMMANDS, indirect=True)
@settings(SETTINGS, max_examples=3)
@given(data=st.data())
def test_a_misspelt_word_of_a_command_is_refused_with_the_right_one(
    entry: Entry, data: st.DataObject
) -> None:
    check_misspelt(entry, data)


# A variable that resembles none of ours may belong to another program, and a context may have
# values for people.
MAY_BE_MORE = ("variable", "run holiday_pictures --set NAME=1")


@pytest.mark.parametrize(
    "name", [name for name in (*NAMES, *OF_COMMANDS) if name not in MAY_BE_MORE]
)
def test_a_key_that_resembles_none_is_refused_by_name(places: Places, name: str) -> None:
    said = places[name].give(None, "$zzzz" if name in ("reference", "coalesce") else "zzzz")
    assert "zzzz" in said

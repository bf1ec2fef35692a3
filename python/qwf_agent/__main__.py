"""The agent's command line: `python -m qwf_agent`, or `qwf agent`."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from qwf_agent.system import extras, streams
from qwf_agent.system.exit_codes import MISCONFIGURED, REFUSED

with extras.needed("pip install 'qwf-agent[agent]'"):
    import click

    from qwf_agent import config
    from qwf_agent.agent.abilities import find_abilities
    from qwf_agent.agent.commands_folder import UnsafeCommands, check_commands
    from qwf_agent.agent.log_format import FORMATS, start_log
    from qwf_agent.agent.loop import Agent
    from qwf_agent.agent.options import SERVED_QUEUE, AgentOptions
    from qwf_agent.agent.out_root import INSTANCE
    from qwf_agent.child.tasks import CannotLoad
    from qwf_agent.receivers.config import ALERTS_QUEUE, read_receivers
    from qwf_agent.servers.config import ServerConfig, read_servers
    from qwf_agent.system.cgroup import CannotUse, open_groups

NOTHING_TO_RUN = (
    "this agent has nothing to run: give --app MODULE:OBJECT, --nodes PACKAGE or --allow-commands "
    "DIR; or serve the queue llm, with a model server [[server]] in qwf.toml, or the queue "
    "qwf.alerts, with a receiver [receiver.NAME]"
)
F = TypeVar("F", bound=Callable[..., Any])
COUNT = click.IntRange(min=1)
DAY = 24 * 3600
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


FOLDER = click.Path(path_type=Path, file_okay=False)


def option(flag: str, text: str, *names: str, **more: Any) -> Callable[[F], F]:
    """An option that can also be set in the environment: --some-thing as QWF_SOME_THING."""
    variable = "QWF_" + flag.removeprefix("--").replace("-", "_").upper()
    shown = "default" in more
    return click.option(
        flag, *names, envvar=variable, show_envvar=True, show_default=shown, help=text, **more
    )


def read_toml(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Take defaults from the [agent] table of qwf.toml. Raises Misconfigured."""
    if value is not None:
        raise Misconfigured(f"there is no option --config: set QWF_CONFIG={value}")
    try:
        table = config.load_toml().get("agent", {})
        path = config.toml_path()
    except config.ConfigError as error:
        raise Misconfigured(str(error)) from None
    params = {
        flag.removeprefix("--"): param
        for param in ctx.command.params
        for flag in param.opts
        if param.expose_value and flag.startswith("--")
    }
    given = {}
    for key, value in table.items():
        param = params.get(key.replace("_", "-"))
        if param is None:
            raise Misconfigured(f"{path}: [agent]: {config.unknown_key(key, params)}")
        expected = misfit(param, value)
        if expected is not None:
            raise Misconfigured(
                f"{path}: [agent]: {key} has to be {expected}, not {json.dumps(value, default=str)}"
            )
        given[param.name] = value
    ctx.default_map = {**given, **(ctx.default_map or {})}


def misfit(param: click.Parameter, value: object) -> str | None:
    """The kind that a value of qwf.toml has to be, if it is another; None if it fits. A text is
    read as if it were typed."""
    if param.multiple:
        fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return None if fits else "a list of texts"
    if isinstance(value, str):
        return None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if getattr(param, "is_flag", False):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(param.type, click.FloatRange):
        return None if is_number or isinstance(value, float) else "a number"
    if isinstance(param.type, click.types.IntParamType):
        return None if is_number else "a whole number"
    return None if is_number and param.callback in (check_gpu, read_size) else "a text"


def check_gpu(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Accept a card number, all, or none."""
    if value not in (None, "all", "none") and not str(value).isdigit():
        raise click.BadParameter("expected a card number, all, or none")
    return None if value is None else str(value)


def read_size(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Bytes from a size such as 500M or 8G (KiB, MiB, GiB or TiB)."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", str(value).strip(), re.IGNORECASE)
    if found is None:
        raise click.BadParameter("expected a size such as 500M or 8G")
    return int(float(found[1]) * SIZES[found[2].upper()])


class Seconds(click.FloatRange):
    """A number of seconds with a bound. Python's nan is neither below nor above one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> float:
        """The number. Raises click.BadParameter."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


SECONDS = Seconds(min=0, max=366 * DAY)


class AgentCommand(click.Command):
    """The command of the agent. It refuses a second --app or --nodes: only the last would count."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line. Raises click.UsageError."""
        order = self.make_parser(ctx).parse_args(args=list(args))[2]
        for name, way in (("app", "import the tasks of both into one App"),
                          ("nodes", "put the modules of both into one package")):  # fmt: skip
            if [param.name for param in order].count(name) > 1:
                raise click.UsageError(f"--{name} is given twice: {way}, or start two agents", ctx)
        return super().parse_args(ctx, args)


class Misconfigured(click.ClickException):
    """The configuration is wrong. A supervisor should not retry."""

    exit_code = MISCONFIGURED


# fmt: off
@click.command("agent", cls=AgentCommand)
@click.option("--config", callback=read_toml, is_eager=True, expose_value=False, hidden=True)
@option("--queue", "Queue to serve; repeat for more. Default: default.", "queues", multiple=True)
@option("--slots", "Number of bodies to run at once. Default: 1, one per card, or as many as the "
        "model servers take.", type=COUNT,
        metavar="N")
@option("--app", "App object with the tasks.", metavar="MODULE:OBJECT")
@option("--nodes", "Package of node modules, each with a run() function.", metavar="PACKAGE")
@option("--allow-commands", "Run commands, but only from this folder.", type=FOLDER, metavar="DIR")
@option("--host", "Name of this box. Default: its host name.", metavar="NAME")
@option("--gpu", "Card to use, one body at a time. Default: all if a queue is called gpu.",
        metavar="N|all|none", callback=check_gpu)
@option("--vram-mb", "GPU memory to register, in MiB. Default: that of the largest card.",
        type=COUNT, metavar="MIB")
@option("--max-rss", "Memory limit for a child and every process it starts, such as 8G. A child "
        "above it is killed.", metavar="SIZE", callback=read_size)
@option("--cgroup", "Control group to create the children's groups in. Default: the one that "
        "systemd delegated to the agent, if any.", type=FOLDER, metavar="DIR")
@option("--label", "Label of this box that jobs may require; repeat for more.", "labels",
        multiple=True, metavar="NAME=VALUE")
@option("--rank", "Below 0: claim only jobs that other workers leave, newest first.", type=int,
        default=0, metavar="N")
@option("--project", "Run jobs of this project only; '*': of all. Default: jobs without a "
        "project.", metavar="NAME", default="")
@click.option("--dsn", metavar="URL", help="Database address. Default: QWF_DSN, DATABASE_URL, PG*, "
              "or the server that `qwf up` started.")
@option("--listen-dsn", "Address for LISTEN, needed if --dsn leads through a transaction pooler; "
        "default: the same as --dsn.", metavar="URL")
@option("--out-root", "Folder for the files that bodies write; {instance} in it stands for the "
        "database. Default: ~/.qwf/out/{instance}.", type=FOLDER,
        metavar="DIR")
@option("--grace", "How long bodies may keep running after SIGTERM. Default: the setting "
        "stop_grace.", type=SECONDS, metavar="SECONDS")
@option("--fresh", "Fork a new child for every job.", is_flag=True)
@option("--reload", "Fork new children when the code of the tasks has changed.", is_flag=True)
@option("--otel", "Make a span of OpenTelemetry for each body.", is_flag=True)
@option("--recycle-jobs", "Fork a new child after N jobs. Default: the setting recycle_jobs.",
        type=COUNT, metavar="N")
@option("--batch", "Maximum number of short jobs to hand to a child at once.",
        type=click.IntRange(1, 500), default=500, metavar="N")
@option("--lease", "How long a claim lasts without a heartbeat. Default: the setting of the "
        "queue.", type=Seconds(min=1, max=DAY), metavar="SECONDS")
@option("--durable-claims", "Claims wait for the disk and for synchronous standbys, so that a "
        "failover forgets none and no body starts twice.", is_flag=True)
@option("--poll", "How often to look for work when idle. Default: the setting poll.",
        type=Seconds(min=0.01, max=DAY), metavar="SECONDS")
@option("--until-empty", "Stop when the queues have nothing left that can run now. What waits for "
        "time, a person or another worker stays.", is_flag=True)
@option("--wait", "How long to wait at the start for a database with the schema.", type=SECONDS,
        default=120, metavar="SECONDS")
@option("--log-format", "Lines for people, or one JSON object per line.", default="text",
        type=click.Choice(FORMATS))
@click.option("-v", "--verbose", is_flag=True, help="Log every job.")
def command(verbose: bool, log_format: str, **given: Any) -> int:
    """Run jobs from the queues, each in a child process.

    \b
    SIGTERM stops the agent: running jobs finish, all others go back to the queue.
    SIGHUP replaces its children, once their new code can be imported.
    Exit codes:  0  it was asked to stop, or --until-empty
                69  no database
                70  a defect in the agent
                75  --until-empty, and a queue of it is switched off
                77  no card for its models
                78  wrong configuration or schema
    """
    start_log(verbose, log_format)
    try:
        config.warn_of_misspelt()
        logging.getLogger(__name__).debug("configuration: %s", config.toml_path() or "no qwf.toml")
        options = read_options(given)
        if options.allow_commands is not None:
            check_commands(options.allow_commands, options.out_root)
        os.environ["QWF_PROJECT"] = options.project or "*"  # for what its bodies enqueue
        abilities = find_abilities(options)
        groups = open_groups(options.cgroup, options.max_rss)
    except (config.ConfigError, UnsafeCommands, CannotLoad, CannotUse) as error:
        click.echo(f"error: {error}", err=True)
        return MISCONFIGURED
    if abilities.no_card:
        click.echo(f"refused: {abilities.no_card}", err=True)
        return REFUSED
    return Agent(options, abilities, groups).run()
# fmt: on


def read_options(given: dict[str, Any]) -> AgentOptions:
    """Check the options together and fill in defaults. Raises ConfigError."""
    given["queues"] = tuple(dict.fromkeys(given["queues"])) or ("default",)
    given["servers"] = read_served(given["queues"])
    given["receivers"] = read_receiver_names(given["queues"])
    if not any(given[way] for way in ("app", "nodes", "allow_commands", "servers", "receivers")):
        raise config.ConfigError(NOTHING_TO_RUN)
    if given["otel"] and (missing := extras.missing_of_otel()) is not None:
        raise config.ConfigError(
            f"--otel: the package {missing} is missing: pip install 'qwf-agent[otel]'"
        )
    commands = given["allow_commands"]
    if commands is not None and not commands.is_dir():
        raise config.ConfigError(f"--allow-commands {commands}: no such folder")
    given["dsn"] = config.find_dsn(given["dsn"])
    if given["listen_dsn"] is not None:
        given["listen_dsn"] = config.read_dsn(given["listen_dsn"], "--listen-dsn")
    given["project"] = None if given["project"] == "*" else given["project"]
    given["labels"] = tuple(_label(label) for label in given["labels"])
    given["host"] = given["host"] or config.this_box()
    root = given["out_root"] or config.home() / "out" / INSTANCE
    given["out_root"] = root.absolute()
    return AgentOptions(**given)


def read_receiver_names(queues: Collection[str]) -> tuple[str, ...]:
    """The names of the receivers of the box, for an agent that delivers messages. Raises
    ConfigError if one says something wrong, or others can read a secret."""
    if ALERTS_QUEUE not in queues:
        return ()
    found = read_receivers(config.load_toml().get("receiver", {}), str(config.toml_path()))
    return tuple(found)


def read_served(queues: Collection[str]) -> tuple[ServerConfig, ...]:
    """The model servers of the box, for an agent that serves their queue: another agent of the box
    may use the same qwf.toml. Raises ConfigError."""
    if SERVED_QUEUE not in queues:
        return ()
    return read_servers(config.load_toml().get("server", []), str(config.toml_path()))


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise config.ConfigError(f"--label {text}: expected NAME=VALUE, such as disk=ssd")
    return name, value


def main() -> None:
    """Run the command and exit with its code."""
    streams.open_missing()
    try:
        code = command.main(prog_name="python -m qwf_agent", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = MISCONFIGURED
    streams.discard_unwritable()
    sys.exit(code)


if __name__ == "__main__":
    main()

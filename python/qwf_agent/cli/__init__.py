"""The command line: `qwf`. Reads and administers; only `qwf agent` runs anybody's code."""

from __future__ import annotations

from importlib import import_module

import click

from qwf_agent.cli import acting, enqueueing, reading, serving, session

LATE = {"agent": "qwf_agent.__main__:command", "demo": "qwf_agent.demo:demo"}


class Qwf(session.Commands):
    """The top of the command line; what is heavy to import is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order of use: first steps, work, looking, answering, administration."""
        return list(ORDER)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command called `name`."""
        if name not in LATE:
            return super().get_command(ctx, name)
        module, attribute = LATE[name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=Qwf, context_settings={"help_option_names": ["-h", "--help"]})
def qwf() -> None:
    """Workflows and jobs on your own machines, with Postgres as the only server.

    \b
    First steps:
      qwf demo                            see it work, on real photographs
      qwf up                              a Postgres of your own, under ~/.qwf
      qwf apply DIR                       register pipelines and workflows
      qwf agent --queue cpu --nodes PKG   run node bodies
      qwf run NAME --watch                start a run and follow it

    The database is --dsn, QWF_DSN, DATABASE_URL, PG*, or what `qwf up` started.

    \b
    Exit codes: 0 fine · 1 refused or failed · 2 wrong usage · 69 no database
                78 configuration or schema · 130 interrupted
                run --watch and wait: 0 completed, 1 failed, 2 cancelled
    Completion: eval "$(_QWF_COMPLETE=bash_source qwf)"     (zsh_source, fish_source)
    """


@click.command()
def version() -> None:
    """Print the version."""
    from qwf_agent import __version__

    click.echo(__version__)


for command in (
    serving.up, serving.down, serving.migrate, enqueueing.apply, enqueueing.run, enqueueing.enqueue,
    reading.runs, reading.show, reading.jobs, reading.job, reading.wait, reading.inputs,
    acting.answer, acting.cancel, acting.tick, version,
):  # fmt: skip
    qwf.add_command(command)

ORDER = (
    *("demo", "up", "down", "agent", "apply", "run", "enqueue", "runs", "show", "jobs", "job"),
    *("wait", "inputs", "answer", "cancel", "tick", "migrate", "version"),
)


def main() -> None:
    """Entry point of the console script."""
    qwf(prog_name="qwf")

"""The command line, `qwf`. Only `qwf agent` runs user code; the others read and administer."""

from __future__ import annotations

from importlib import import_module

from qwf_agent.system import extras

NEEDED = "pip install 'qwf-agent[cli]'"

with extras.needed(NEEDED):
    import click

    from qwf_agent import __version__, config
    from qwf_agent.cli import commands

# The module of each command under qwf_agent, and the name of its function if it is another one.
# Only the command that runs is imported.
COMMANDS = {
    **dict.fromkeys(("up", "down", "unit"), "cli.server"),
    **dict.fromkeys(("apply", "schema", "run", "enqueue", "submit"), "cli.enqueue"),
    **dict.fromkeys(("schedule", "schedules"), "cli.schedules"),
    **dict.fromkeys(("tick", "prune"), "cli.upkeep"),
    **dict.fromkeys(("runs", "show", "jobs", "job", "why", "inputs"), "cli.read"),
    **dict.fromkeys(("logs", "wait"), "cli.follow"),
    **dict.fromkeys(("queue", "queues"), "cli.queues"),
    **dict.fromkeys(("limit", "limits"), "cli.limits"),
    **dict.fromkeys(("alert", "alerts", "receivers"), "cli.alerts"),
    **dict.fromkeys(("cancel", "retry"), "cli.cancel_retry"),
    "change": "cli.change",
    "agent": "__main__:command",
    "answer": "cli.answer",
    "audit": "cli.audit",
    "compile": "cli.compile:compile_module",
    "demo": "cli.demo",
    "doctor": "cli.doctor",
    "enqueue-many": "cli.enqueue_many",
    "erase": "cli.erase",
    "events": "cli.events",
    "failures": "cli.failures",
    "metrics": "cli.metrics",
    "migrate": "cli.migrations",
    "servers": "cli.servers",
    "signal": "cli.signal",
    "settings": "cli.settings",
    "top": "cli.top",
    "version": "cli",
    "web": "web.command",
    "worker": "cli.worker",
    "worker-check": "cli.worker_check",
    "workers": "cli.fleet",
}


SECTIONS = {
    "Get started": ("demo", "up", "down", "agent", "migrate", "unit"),
    "Work": ("compile", "apply", "schema", "run", "enqueue", "enqueue-many", "submit", "schedule",
             "tick", "prune"),
    "Inspect": ("runs", "show", "jobs", "job", "why", "logs", "wait", "inputs", "failures",
             "queues", "workers", "servers", "schedules", "limits", "events", "alerts",
             "receivers", "audit"),
    "Change": ("answer", "signal", "cancel", "retry", "change", "erase", "queue",
               "worker", "limit", "alert", "settings"),
    "Monitor": ("web", "top", "doctor", "metrics", "worker-check", "version"),
}  # fmt: skip


# Words of other tools, and the commands here.
OTHERS_SAY = {
    **dict.fromkeys(("list", "ls"), "qwf runs, or: qwf jobs"),
    **dict.fromkeys(("status", "get", "describe"), "qwf show RUN, or: qwf job JOB"),
    **dict.fromkeys(("stop", "kill", "delete", "rm"), "qwf cancel run ID, or: qwf cancel job ID"),
    **dict.fromkeys(("start", "trigger"), "qwf run WORKFLOW, or: qwf agent"),
    **dict.fromkeys(("register", "create"), "qwf apply DIR"),
    **dict.fromkeys(("deploy", "init", "upgrade"), "qwf migrate deploy"),
    **dict.fromkeys(("ps", "fleet"), "qwf workers"),
    **dict.fromkeys(("questions", "pending"), "qwf inputs"),
}


class Qwf(commands.Commands):
    """The top level of the command line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Command names in the order of SECTIONS."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command named `name`, or None."""
        if name not in COMMANDS:
            return None
        module, _, function = COMMANDS[name].partition(":")
        found = import_module(f"qwf_agent.{module}")
        command: click.Command = getattr(found, function or name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named command; for a word of other tools, the message says what it is called here."""
        if args[0] in OTHERS_SAY:
            ctx.fail(f"no such command {args[0]!r}; write: {OTHERS_SAY[args[0]]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section."""
        for title, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(62)) for name, command in found if command]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(cls=Qwf, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s", help="Print the version.")
def qwf() -> None:
    """Workflows and jobs on your own machines, with Postgres as the only server.

    \b
    First steps:
      qwf demo                            see it work, on real photographs
      qwf up                              start your own Postgres, under ~/.qwf
      qwf apply DIR                       register pipelines and workflows
      qwf agent --queue cpu --nodes PKG   run node bodies
      qwf run NAME --watch                start a run and follow it

    The database is --dsn, else QWF_DSN, DATABASE_URL, PG*, or the server `qwf up` started.

    \b
    Exit codes: 0 success · 1 refused or failed · 2 wrong usage · 69 no database
                74 the output cannot be written · 78 bad configuration or schema
                129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM (web, metrics: 0)
    run --watch, submit --wait, logs -f and wait:
                0 completed · 1 failed · 2 cancelled · 124 timed out
    Completion: eval "$(_QWF_COMPLETE=bash_source qwf)"  (zsh_source, fish_source)
    """
    if click.get_current_context().invoked_subcommand != "agent":  # which has a log to say it in
        config.warn_of_misspelt()


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


def main() -> None:
    """Entry point of the console script."""
    with extras.needed(NEEDED):
        qwf(prog_name="qwf")

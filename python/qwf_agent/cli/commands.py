"""Groups of commands."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from qwf_agent import config
from qwf_agent.cli import interrupts
from qwf_agent.cli.errors import guarded
from qwf_agent.system import streams
from qwf_agent.system.exit_codes import INTERRUPTED


class Commands(click.Group):
    """A group that lists its commands in the order they were added and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order they were added, not alphabetical."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named command. The error about an unknown one says which it probably means."""
        name, known = args[0], self.list_commands(ctx)
        if not (ctx.resilient_parsing or name.startswith("-") or name in known):
            meant = config.close_to(name, known)
            ctx.fail(
                f"no such command {name!r}: "
                + (f"did you mean {meant!r}?" if meant else f"use one of {', '.join(known)}")
            )
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit: see the table of exit codes in `qwf --help`."""
        extra["standalone_mode"] = False
        streams.open_missing()
        with interrupts.by_signals() as came:
            code = guarded(lambda: super(Commands, self).main(*args, **extra))
        sys.exit(128 + came[0] if came and code == INTERRUPTED else code)


class RunOrJob(Commands):
    """A verb for runs or jobs. Both have numbers as ids, so the user must say which is meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named command. A bare number is refused, with the two commands to choose from."""
        if args[0].isdecimal():
            verb, number = ctx.command_path, args[0]
            ctx.fail(f"a run or a job? Write: {verb} run {number}, or: {verb} job {number}")
        return super().resolve_command(ctx, args)

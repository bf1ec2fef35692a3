"""Groups of commands."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from qwf_agent.cli.errors import guarded


class Commands(click.Group):
    """A group that lists its commands in the order they were added and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order they were added, not alphabetical."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit: see the table of exit codes in `qwf --help`."""
        extra["standalone_mode"] = False
        sys.exit(guarded(lambda: super(Commands, self).main(*args, **extra)))


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

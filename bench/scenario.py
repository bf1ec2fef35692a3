"""A scenario: a command, its sizes, and a function that measures one round."""

from __future__ import annotations

import functools
import json
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from bench import results
from bench.samples import Sample, figures, number
from bench.server import Server, start

Measure = Callable[..., Iterator[Sample]]


class Scenario(click.Command):
    """A command that measures. `measure(server, **sizes)` runs one round of it."""

    measure: Measure


def scenario(name: str, *, rounds: int = 3) -> Callable[[Measure], Scenario]:
    """Turn a function that measures one round on a server into a command."""

    def make(measure: Measure) -> Scenario:
        @functools.wraps(measure)
        def run(dsn: str | None, rounds: int, as_json: bool, **sizes: Any) -> None:
            with interruptible(), start(dsn) as server:
                facts = server.facts()
                samples = take(server, measure, rounds, sizes, quiet=as_json)
            if as_json:
                click.echo(json.dumps(results.as_json(samples, facts), indent=1))
            else:
                results.show(figures(samples), facts)

        for decorate in common(rounds):
            run = decorate(run)
        command = click.command(name, cls=Scenario)(run)
        command.measure = measure
        return command

    return make


def common(rounds: int) -> list[Callable[[Any], Any]]:
    """The options that all scenarios have."""
    return [
        click.option("--json", "as_json", is_flag=True, help="All samples, as JSON."),
        click.option("--rounds", default=rounds, show_default=True, type=click.IntRange(min=1)),
        click.option(
            "--dsn", help="A server to put under load. Default: its own server.", metavar="URL"
        ),
    ]


def take(
    server: Server, measure: Measure, rounds: int, sizes: dict[str, Any], *, quiet: bool = False
) -> list[Sample]:
    """Measure `rounds` rounds and return their samples; print each one unless `quiet`."""
    samples: list[Sample] = []
    for turn in range(1, rounds + 1):
        for sample in measure(server, **sizes):
            samples.append(sample)
            if not quiet:
                said = f"{sample.scenario}: {sample.figure}, {sample.system}"
                value = f"{number(sample.value)} {sample.unit}"
                click.echo(f"  {said}: {value} (round {turn} of {rounds})", err=True)
    return samples


class interruptible:
    """Turns SIGTERM into an exception within the context, so that everything started is stopped."""

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)


def sizes_of(command: Scenario, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The rounds and sizes of a scenario with these options, or its defaults."""
    params = command.make_context(command.name, list(arguments)).params
    rounds = params.pop("rounds")
    return rounds, {key: value for key, value in params.items() if key not in ("dsn", "as_json")}

"""`python -m bench workflows`."""

from __future__ import annotations

import click

from bench import results
from bench.peers.install import CannotInstall
from bench.samples import Sample, figures
from bench.scenario import Measure, interruptible, take
from bench.server import BenchError, Server, start
from bench.workflows import compare, killed, systems

NAMES = [system.name for system in systems.ALL if system is not systems.QWF]
MEASURES: dict[str, Measure] = {
    "hops": compare.hops,
    "fibo": compare.computing,
    "kill": killed.kills,
}


@click.command("workflows")
@click.option("--dsn", help="A server to put under load. Default: its own server.", metavar="URL")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--peer", "wanted", multiple=True, type=click.Choice(NAMES), help="Default: all.")
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(list(MEASURES)), help="Default: all."
)
@click.option("--chains", default=24, show_default=True, help="Chains of five, one by one.")
@click.option("--length", default=100, show_default=True, help="Steps of the long chain.")
@click.option("--width", default=100, show_default=True, help="Siblings in the fan.")
@click.option("--runs", default=200, show_default=True, help="Workflows at the same time.")
@click.option("--light", default=10, show_default=True, help="fibo of this is a short body.")
@click.option("--heavy", default=33, show_default=True, help="fibo of this is a long body.")
@click.option("--steps", default=20, show_default=True, help="Steps of the chain in the kill.")
@click.option("--patience", default=45.0, show_default=True, help="Seconds to wait after a kill.")
def workflows(
    dsn: str | None,
    rounds: int,
    wanted: tuple[str, ...],
    parts: tuple[str, ...],
    chains: int,
    length: int,
    width: int,
    runs: int,
    light: int,
    heavy: int,
    steps: int,
    patience: float,
) -> None:
    """Measure workflows on qwf and on other engines in turn; write bench/results/workflows.*."""
    there = [system for system in systems.ALL if system.name in ("qwf", *(wanted or NAMES))]
    there = [system for system in there if can_run(system)]
    sizes: dict[str, dict[str, float]] = {
        "hops": {"chains": chains, "length": length, "width": width, "runs": runs},
        "fibo": {"light": light, "heavy": heavy},
        "kill": {"steps": steps, "patience": patience},
    }
    taken: list[Sample] = []
    with interruptible(), start(dsn) as server:
        facts = server.facts()
        for turn in range(rounds):
            sizes["kill"]["kill_at"] = steps * (turn + 1) // (rounds + 1)
            for part in parts or tuple(MEASURES):
                for system in there:
                    taken += one(server, part, system, sizes[part])
    results.show(figures(taken), facts)
    click.echo(f"written: {results.save('workflows', taken, facts)}")


def can_run(system: systems.System) -> bool:
    """Return True if a system is installed now; if not, print why."""
    try:
        system.install()
    except CannotInstall as error:
        click.echo(f"{system.name} was skipped: {error}", err=True)
        return False
    return True


def one(server: Server, part: str, system: systems.System, sizes: dict[str, float]) -> list[Sample]:
    """One part of the benchmark on one system; empty, with a message, if it fails."""
    try:
        return take(server, MEASURES[part], 1, {"system": system, **sizes})
    except BenchError as error:
        click.echo(f"{part} on {system.name} failed: {error}", err=True)
        return []

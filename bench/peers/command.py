"""`python -m bench peers`."""

from __future__ import annotations

import click

from bench import results
from bench.peers import compare, producers, systems
from bench.peers.enqueues import enqueues
from bench.peers.install import CannotInstall
from bench.peers.producers import Producer
from bench.samples import Sample, figures
from bench.scenario import interruptible, take
from bench.server import BenchError, Server, start

NAMES = [system.name for system in systems.ALL if system is not systems.QWF]


@click.command("peers")
@click.option("--dsn", help="A server to put under load. Default: its own server.", metavar="URL")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--peer", "wanted", multiple=True, type=click.Choice(NAMES), help="Default: all.")
@click.option("--jobs", default=20_000, show_default=True, help="Jobs of a drain.")
@click.option("--workers", "fleets", multiple=True, type=int, default=(1, 2), show_default=True)
@click.option("--seconds", default=8.0, show_default=True, help="Length of the throughput run.")
@click.option("--hold", default=20.0, show_default=True, help="Seconds of each snapshot run.")
@click.option("--samples", default=200, show_default=True, help="Jobs of the latency run.")
def peers(
    dsn: str | None,
    rounds: int,
    wanted: tuple[str, ...],
    jobs: int,
    fleets: tuple[int, ...],
    seconds: float,
    hold: float,
    samples: int,
) -> None:
    """Measure qwf and its peers in turn, on the same server; write bench/results/peers.*."""
    there = [systems.QWF, *installed(wanted or tuple(NAMES))]
    taken: list[Sample] = []
    with interruptible(), start(dsn) as server:
        facts = server.facts()
        for _ in range(rounds):
            taken += round_of(server, there, jobs, fleets, seconds, samples)
        taken += take(server, compare.snapshots, 1, {"systems": there, "seconds": hold})
    results.show(figures(taken), facts)
    click.echo(f"written: {results.save('peers', taken, facts)}")


@click.command("enqueue-peers")
@click.option("--dsn", help="A server to put under load. Default: its own server.", metavar="URL")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--only", multiple=True, help="Systems to measure. Default: all.", metavar="NAME")
@click.option("--producers", "numbers", multiple=True, type=int, default=(1, 8, 32),
              show_default=True)  # fmt: skip
@click.option("--seconds", default=3.0, show_default=True, help="Of each system.")
def enqueue_peers(
    dsn: str | None, rounds: int, only: tuple[str, ...], numbers: tuple[int, ...], seconds: float
) -> None:
    """Measure what an enqueue costs in qwf and in its peers; write bench/results/enqueue.*."""
    there = can_produce(only)
    with interruptible(), start(dsn) as server:
        facts = server.facts()
        sizes = {"there": there, "producers": numbers, "seconds": seconds}
        taken = take(server, enqueues, rounds, sizes)
    results.show(figures(taken), facts)
    click.echo(f"written: {results.save('enqueue', taken, facts)}")


def can_produce(only: tuple[str, ...]) -> list[Producer]:
    """The wanted producers that can be installed here; print the names of the others."""
    found = []
    for one in producers.ALL:
        if not only or one.name in only:
            try:
                one.install()
                found.append(one)
            except CannotInstall as error:
                click.echo(f"{one.name} was skipped: {error}", err=True)
    return found


def installed(wanted: tuple[str, ...]) -> list[systems.System]:
    """The wanted peers that can be installed here; print the names of the others."""
    found = []
    for system in systems.ALL:
        if system.name in wanted:
            try:
                system.install()
                found.append(system)
            except CannotInstall as error:
                click.echo(f"{system.name} was skipped: {error}", err=True)
    return found


def round_of(
    server: Server,
    there: list[systems.System],
    jobs: int,
    fleets: tuple[int, ...],
    seconds: float,
    samples: int,
) -> list[Sample]:
    """One round of everything except the held snapshot."""
    taken: list[Sample] = []
    for measure, sizes in (
        (compare.drains, {"jobs": jobs, "fleets": fleets}),
        (compare.throughputs, {"seconds": seconds}),
        (compare.latencies, {"samples": samples}),
    ):
        try:
            taken += take(server, measure, 1, {"systems": there, **sizes})
        except BenchError as error:
            click.echo(f"skipped: {error}", err=True)
    return taken

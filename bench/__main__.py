"""`python -m bench`: the command line."""

from __future__ import annotations

import sys

import click

from bench import page, results
from bench.peers.command import enqueue_peers, peers
from bench.samples import Sample, figures
from bench.scenario import interruptible, sizes_of, take
from bench.scenarios import ALL
from bench.server import BenchError, start
from bench.workflows.command import workflows


@click.group()
def main() -> None:
    """Measure qwf and its peers. Every command starts its own server, unless you give --dsn."""


@main.command("all")
@click.option("--dsn", help="A server to put under load. Default: its own server.", metavar="URL")
@click.option("--only", multiple=True, help="Scenarios to run. Default: all.", metavar="NAME")
def measure_all(dsn: str | None, only: tuple[str, ...]) -> None:
    """Run all scenarios with their default sizes, on one server; write bench/results/qwf.*."""
    samples: list[Sample] = []
    with interruptible(), start(dsn) as server:
        facts = server.facts()
        for scenario in ALL:
            if only and scenario.name not in only:
                continue
            try:
                samples += take(server, scenario.measure, *sizes_of(scenario))
            except BenchError as error:
                click.echo(f"{scenario.name} was skipped: {error}", err=True)
    results.show(figures(samples), facts)
    click.echo(f"written: {results.save('qwf', samples, facts)}")


@main.command("page")
def write_page() -> None:
    """Write the figures of bench/results into docs/."""
    click.echo(f"written: {', '.join(page.write()) or 'nothing, run: make bench'}")


for command in (*ALL, peers, enqueue_peers, workflows):
    main.add_command(command)

if __name__ == "__main__":
    try:
        sys.exit(main.main(prog_name="python -m bench", standalone_mode=False))
    except (BenchError, click.ClickException) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)

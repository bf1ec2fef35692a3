"""Failovers of a real cluster under work. What was acknowledged is there afterwards, and no body
runs twice.

    QWF_HA_ROUNDS=30 .venv/bin/python -m pytest -s tests/drills/test_failover.py
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import pytest

from support.ha.cluster import Cluster, cluster, lacking
from support.ha.drill import TTL_S, Drill, judge
from support.ha.fleet import fleet

ROUNDS = int(os.environ.get("QWF_HA_ROUNDS", "3"))
ALLOWED_S = 12 * TTL_S  # on a machine with two busy cores; the figures are printed


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    """The cluster; QWF_HA=required fails without its programs."""
    why = lacking()
    if why is not None and os.environ.get("QWF_HA") == "required":
        pytest.fail(why)
    if why is not None:
        pytest.skip(why)
    with cluster() as found:
        yield found


def test_failovers_lose_nothing_and_do_nothing_twice(
    running: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with fleet(running) as work:
        drill = Drill(running, work)
        for kind in itertools.islice(itertools.cycle(drill.kinds), ROUNDS):
            done = drill.strike(kind)
            with capsys.disabled():
                print(f"\n{done}", end="", flush=True)
        verdict = judge(drill)
        with capsys.disabled():
            print(f"\n{verdict}")
        assert all(agent.process.returncode == 0 for agent in work.agents)
    assert verdict.missing == []
    assert verdict.beside == []
    assert verdict.unfinished == []
    assert verdict.completed_twice == []
    assert verdict.lapsed == []
    assert verdict.forgotten == []
    assert verdict.broken == []
    assert verdict.acknowledged > 0
    assert [one for one in drill.rounds if one.pause_s > ALLOWED_S] == []

"""Models come to a card by estimates, by the driver, and by what waits longest. The figures of
the driver are the test's."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.servers.cards import CardMemory, Need, Reading, Resident
from qwf_agent.servers.config import read_servers
from qwf_agent.servers.fleet import ServerFleet, Wish
from qwf_agent.servers.own_server import OwnServer
from qwf_agent.servers.server import Demand
from qwf_agent.system.guardian import Guardian
from support.stepped import DEADLINE_S, awaits_answer, obeying

GIB = 1024
SIZE_MB = 80 * GIB
AFFINITY_S = 60.0
TICK_S = 0.01
WAIT_S = 0.002  # for what the system has to say


class Box:
    """A card of 80 GiB and servers on it, with a clock that the test moves.
    `used_gb` is what the driver says; None: it does not answer."""

    def __init__(self, tables: list[dict[str, Any]]) -> None:
        self.selector = selectors.DefaultSelector()
        self.guardian = Guardian(None)
        self.cards = CardMemory({"0": SIZE_MB})
        configs = read_servers(tables)
        self.fleet = ServerFleet(configs, self.cards, self.selector, self.guardian, None, "box")
        self.now = 1000.0
        self.used_gb: float | None = 0.0
        self.demands = {config.name: Demand() for config in configs}
        self.residents: list[Resident] = []
        self.needs: list[Need] = []
        self.met: set[object] = set()
        self.policy: str | None = None

    def server(self, name: str) -> OwnServer:
        return next(one for one in self.fleet.own if one.config.name == name)

    def states(self) -> list[str]:
        return [one.state for one in self.fleet.own]

    def want(self, name: str, since: float | None = None) -> None:
        self.demands[name] = Demand(waiting={"tiny": self.now if since is None else since})

    def step(self) -> None:
        for key, _ in self.selector.select(WAIT_S):
            key.data()
        if self.used_gb is not None:
            self.cards.reading = Reading(self.now, {"0": int(self.used_gb * GIB)})
        wish = Wish(self.policy, AFFINITY_S, 1200.0)
        self.met = self.fleet.step(self.now, self.demands, wish, self.residents, self.needs)

    def until(self, look: Callable[[], object], what: str, tick_s: float = TICK_S) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not look():
            assert time.monotonic() < deadline, f"timed out waiting for {what}: {self.states()}"
            self.now += WAIT_S if awaits_answer(self.selector) else tick_s
            self.step()

    def becomes(self, *states: str) -> None:
        """Wait for the states of all servers."""
        self.until(lambda: self.states() == list(states), str(states))

    def rest(self) -> None:
        """Time in which something could happen."""
        for _ in range(5):
            self.now += TICK_S
            self.step()

    def close(self) -> None:
        self.policy = "hard"
        self.until(self.fleet.is_down, "the end")
        self.guardian.close()


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Callable[..., Box]]:
    """Makes a box with servers of these sizes in GiB."""
    made = []

    def make(*sizes_gb: float | None, **keys: Any) -> Box:
        tables = [
            obeying(tmp_path, f"s{number}", **({} if size is None else {"vram_gb": size}))
            for number, size in enumerate(sizes_gb)
        ]
        made.append(Box([{"card": 0, **keys, **table} for table in tables]))
        return made[-1]

    yield make
    for one in made:
        one.close()


def child(
    key: object, size_gb: float, evicted: list[object], busy: bool = False, since: float = 0.0
) -> Resident:
    def evict() -> None:
        evicted.append(key)

    return Resident(key, "0", int(size_gb * GIB), busy, since, 0.0, evict)


def test_what_another_program_holds_is_not_free_and_nothing_is_stopped_in_vain(
    box: Callable[..., Box],
) -> None:
    one = box(10, 40)
    one.want("s0")
    one.becomes("ready", "off")
    one.demands["s0"] = Demand()
    one.used_gb = 70
    one.want("s1")
    one.rest()
    assert one.states() == ["ready", "off"]
    assert one.server("s1").error == "card 0: no room for 40960 MiB, 10240 MiB are free"
    one.used_gb = 10
    one.becomes("ready", "ready")


def test_five_percent_of_a_card_are_not_given_away(box: Callable[..., Box]) -> None:
    one = box(77)
    one.want("s0")
    one.rest()
    assert one.states() == ["off"]
    assert "no room for 78848 MiB, 77824 MiB are free" in str(one.server("s0").error)


def test_a_driver_that_does_not_answer_is_waited_for_five_seconds(box: Callable[..., Box]) -> None:
    one = box(40)
    one.used_gb = None
    one.want("s0")
    one.rest()
    assert one.cards.wants_reading
    one.now += 4.9
    one.rest()
    assert one.states() == ["off"]
    one.now += 0.2
    one.rest()
    assert one.states() == ["starting"]


def test_a_card_that_nobody_knows_is_not_asked_about(box: Callable[..., Box]) -> None:
    one = box(400, card=7)
    one.used_gb = None
    one.want("s0")
    one.step()
    assert one.states() == ["starting"]
    assert not one.cards.wants_reading


def test_the_next_server_starts_when_the_driver_shows_the_memory_as_free(
    box: Callable[..., Box],
) -> None:
    one = box(50, None, idle="1 s")
    one.want("s0")
    one.becomes("ready", "off")
    one.demands["s0"] = Demand()
    one.used_gb = 52
    one.until(lambda: one.states()[0] == "off", "the idle server to stop")
    one.want("s1")
    one.rest()
    assert one.states() == ["off", "off"], "28 GiB are free, and 40 are waited for"
    one.used_gb = 39
    one.rest()
    assert one.states() == ["off", "starting"]


def test_freed_memory_is_waited_for_five_seconds(box: Callable[..., Box]) -> None:
    one = box(50, None, idle="1 s")
    one.want("s0")
    one.becomes("ready", "off")
    one.demands["s0"] = Demand()
    one.used_gb = 52
    one.until(lambda: one.states()[0] == "off", "the idle server to stop")
    one.want("s1")
    ended_at = one.server("s0").since
    one.until(lambda: one.states()[1] == "starting", "the start", 0.1)
    assert one.now >= ended_at + 5


def test_one_server_of_a_card_starts_at_a_time(box: Callable[..., Box]) -> None:
    one = box(10, 10)
    one.want("s0")
    one.want("s1", one.now + 1)
    one.step()
    assert one.states() == ["starting", "off"]
    assert one.server("s1").error == "card 0: another model is loading"
    one.becomes("ready", "ready")
    assert one.server("s1").error is None


def test_a_server_that_is_asleep_leaves_its_card_to_others(box: Callable[..., Box]) -> None:
    one = box(50, 50, sleep=True)
    one.want("s0")
    one.becomes("ready", "off")
    one.demands["s0"] = Demand()
    one.want("s1")
    one.becomes("asleep", "ready")
    pid = one.server("s0").stats(one.now)["pid"]
    one.demands["s1"] = Demand()
    one.want("s0")
    one.becomes("ready", "asleep")
    assert one.server("s0").stats(one.now)["pid"] == pid
    assert [own.starts for own in one.fleet.own] == [1, 1]


def test_a_server_that_is_asleep_is_stopped_if_there_is_no_room_to_wake_up(
    box: Callable[..., Box],
) -> None:
    one = box(50, sleep=True, idle="1 s")
    one.want("s0")
    one.becomes("ready")
    one.demands["s0"] = Demand()
    one.becomes("asleep")
    one.used_gb = 60
    one.want("s0")
    one.rest()
    assert one.states() == ["asleep"]
    one.now += AFFINITY_S
    one.becomes("off")
    one.used_gb = 0
    one.becomes("ready")


def test_two_busy_servers_take_turns(box: Callable[..., Box]) -> None:
    """Each has the card for as long as the other waits, even if its start takes longer."""
    one = box(50, 50)
    one.want("s0")
    one.becomes("ready", "off")
    one.want("s1")
    one.now += AFFINITY_S - 1
    one.rest()
    assert one.states() == ["ready", "off"]
    one.now += 2
    one.until(lambda: one.states() == ["off", "starting"], "the turn of the other")
    one.now += 5 * AFFINITY_S  # it loads for long, and jobs of the first one wait
    one.becomes("off", "ready")
    one.rest()
    assert one.states() == ["off", "ready"], "it has only just become ready"
    one.now += AFFINITY_S
    one.until(lambda: one.states()[0] == "starting", "the turn of the first")


def test_an_idle_model_of_a_child_makes_room_for_a_server(box: Callable[..., Box]) -> None:
    one, evicted = box(50), list[object]()
    one.residents = [child("flux", 40, evicted)]
    one.want("s0")
    one.rest()
    assert (evicted, one.states()) == (["flux"], ["off"])
    one.residents = []
    one.rest()
    assert one.states() == ["starting"]


def test_a_busy_model_of_a_child_has_its_time(box: Callable[..., Box]) -> None:
    one, evicted = box(50), list[object]()
    one.residents = [child("flux", 40, evicted, busy=True, since=one.now)]
    one.want("s0")
    one.now += AFFINITY_S - 1
    one.rest()
    assert evicted == []
    one.now += 1
    one.rest()
    assert evicted == ["flux"]
    assert one.states() == ["off"]


def test_an_idle_server_makes_room_for_a_child_and_does_not_come_back_before_it(
    box: Callable[..., Box],
) -> None:
    one = box(50)
    one.want("s0")
    one.becomes("ready")
    one.demands["s0"] = Demand()
    one.needs = [Need("flux", "0", 40 * GIB, one.now)]
    one.step()
    assert one.states() == ["draining"]
    one.want("s0", one.now - 1000)  # a job that waits for longer
    one.until(lambda: one.met, "the turn of the child")
    assert one.met == {"flux"}
    assert (one.states(), one.server("s0").starts) == (["off"], 1)


def test_a_child_waits_until_the_memory_of_a_server_is_free(box: Callable[..., Box]) -> None:
    one = box(50)
    one.want("s0")
    one.becomes("ready")
    one.demands["s0"] = Demand()
    one.used_gb = 52
    one.needs = [Need("flux", "0", 40 * GIB, one.now)]
    one.until(lambda: one.states() == ["off"], "the end of the server")
    one.rest()
    assert one.met == set()
    one.used_gb = 0.5
    one.rest()
    assert one.met == {"flux"}


def test_a_child_loads_beside_a_server_if_both_fit_but_not_while_it_starts(
    box: Callable[..., Box],
) -> None:
    one = box(30)
    one.want("s0")
    one.step()
    one.needs = [Need("flux", "0", 40 * GIB, one.now)]
    one.rest()
    assert one.met == set()
    one.becomes("ready")
    one.rest()
    assert one.met == {"flux"}
    assert one.states() == ["ready"]


def test_what_a_child_has_does_not_count_against_what_it_loads_instead(
    box: Callable[..., Box],
) -> None:
    one, evicted = box(30), list[object]()
    one.want("s0")
    one.becomes("ready")
    one.residents = [child("slot", 40, evicted)]
    one.needs = [Need("slot", "0", 45 * GIB, one.now)]
    one.rest()
    assert one.met == {"slot"}
    assert evicted == []


def test_a_model_that_no_card_can_hold_is_not_offered(box: Callable[..., Box]) -> None:
    one = box(90, 10)
    big, small = one.server("s0"), one.server("s1")
    assert big.lack("tiny") == (
        "tiny needs 92160 MiB, and card 0 has 77824 MiB for models: correct vram_gb or card in "
        "qwf.toml"
    )
    assert one.fleet.choice("tiny") == [small]


def test_a_broken_server_is_tried_again_where_an_idle_one_has_its_card(
    box: Callable[..., Box], tmp_path: Path
) -> None:
    one = box(50, 60, idle=0)
    (tmp_path / "dead").touch()
    one.want("s1")
    one.until(lambda: one.server("s1").failures.broken, "five failures", tick_s=1.0)
    (tmp_path / "dead").unlink()
    one.demands["s1"] = Demand()
    one.want("s0")
    one.until(lambda: one.server("s0").state == "ready", "the other server")
    one.demands["s0"] = Demand()
    one.until(lambda: one.server("s1").state == "ready", "another try", tick_s=1.0)
    assert not one.server("s1").failures.broken


def test_a_card_without_room_is_said_since_when(box: Callable[..., Box]) -> None:
    one = box(40)
    one.used_gb = 70
    one.want("s0")
    one.until(lambda: one.server("s0").no_room_since is not None, "no room")
    began = one.server("s0").no_room_since
    one.rest()
    assert one.server("s0").no_room_since == began
    one.used_gb = 0
    one.becomes("ready")
    assert one.server("s0").no_room_since is None

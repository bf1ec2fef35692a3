"""A worker without bodies: it claims, beats and reports as a history tells it to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from support.crossings.place import Place

OUTCOMES = ("completed", "error", "fatal", "tempfail", "released", "later", "lost", "lapsed")
LEASE = "30 s"


@dataclass
class Body:
    """An attempt that the worker holds."""

    job: int
    attempt: int
    run: int | None
    node: str | None
    stop: bool = False

    @property
    def token(self) -> str:
        return f"qwf_test.token({self.job}, {self.attempt})"


@dataclass
class Worker:
    """The attempts that it holds, and how many it has got."""

    place: Place
    reports: str | None = None  # "many": by finish_many; "and claims": by finish_and_claim
    held: list[Body] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)  # the jobs of the last claim

    def register(self) -> None:
        """Become one of which the engine knows, as agents are: a held task is kept from those."""
        self.place.ask("select qwf.register_worker('box', 'q')")
        self.place.ask("update qwf.workers set id = 'w'")

    def claim(self, count: int) -> int:
        """How many jobs it got of those it asked for."""
        return self._take(
            f"select job_id, attempt, run_id, node_id from qwf.claim('q', 'w', {count},"
            f" '{LEASE}', startable => {count})"
        )

    def _take(self, statement: str) -> int:
        got = [Body(*row) for row in self.place.ask(statement)]
        self.held += got
        self.fresh = [body.job for body in got]
        return len(got)

    def beat(self) -> None:
        """Renew the leases; bodies that are to stop, stop. Those that are gone are forgotten."""
        if not self.held:
            return
        tokens = ", ".join(body.token for body in self.held)
        rows = self.place.ask(
            "select _qwf.job_of_token(token), verdict"
            f" from qwf.heartbeat('w', array[{tokens}]::uuid[], '{LEASE}')"
        )
        said = dict(rows)
        self.held = [body for body in self.held if said.get(body.job, "ok") != "lost"]
        for body in self.held:
            body.stop = said.get(body.job) == "cancel"

    def end(self, body: Body, outcome: str, *, done: bool, claims: int = 0) -> int | None:
        """Report the end of a body; how many jobs came with the answer, if it asked for some."""
        self.held.remove(body)
        output = json.dumps({"done": done} if outcome == "completed" else {})
        more = {
            "completed": {},
            "released": {},
            "later": {"detail": '{"retry_after_s": 30}'},
            "crashed": {"error": "it died", "detail": '{"reason": "crashed", "signal": 11}'},
        }.get(outcome, {"error": "it went wrong"})
        outcome = {"later": "released", "crashed": "lost"}.get(outcome, outcome)
        report = (
            f"jsonb_build_array(jsonb_build_object('job_id', {body.job}, 'token', {body.token},"
            f" 'outcome', '{outcome}', 'output', '{output}'::jsonb"
            + "".join(
                f", '{name}', '{text}'{'::jsonb' if name == 'detail' else ''}"
                for name, text in more.items()
            )
            + "))"
        )
        if self.reports == "and claims" and claims:
            return self._take(
                "select job_id, attempt, run_id, node_id from"
                f" qwf.finish_and_claim({report}, 'q', 'w', {claims}, '{LEASE}',"
                f" startable => {claims}) where verdict is null"
            )
        if self.reports == "many":
            self.place.ask(f"select * from qwf.finish_many({report})")
        else:
            told = "".join(f", {name} => '{text}'" for name, text in more.items())
            self.place.ask(
                f"select qwf.finish({body.job}, {body.token}, '{outcome}', '{output}'{told})"
            )
        return None

"""Plays a history to its end, and asks the questions."""

from __future__ import annotations

import random
from collections.abc import Callable

from support.crossings import questions
from support.crossings.histories import History
from support.crossings.place import Broken, Place
from support.crossings.questions import Finding
from support.crossings.worker import OUTCOMES, Body, Worker

PASSES = (1, 20, 61, 400)
# Until nothing changes, time goes on in these steps; so every wait of a history is over.
AFTER = (61, 61, 61, 120, 600, 600, 3600, 86400, 86400, 40 * 86400)
TICK = "select qwf.tick('5 s')"  # as agents call it, many of which do the work of one
SERVED = 60  # claims between two of these steps
MANY = 20  # jobs of a claim in the end


class Playing:
    """One history on its way."""

    def __init__(self, place: Place, history: History, *, closely: bool = False) -> None:
        self.place, self.history, self.closely = place, history, closely
        self.looks = 0
        self.worker = Worker(place, history.choice.get("worker.reports"))
        self.ends = history.choice.get("worker.ends")
        self.runs: list[int] = []
        self.jobs: list[int] = []
        self.paused = False
        self.last_run: int | None = None

    def play(self) -> list[Finding]:
        """Stop at the first moment that is not as it should be."""
        self.place.as_new()
        try:
            for statement in self.history.setup:
                self.enqueue(statement)
            if self.ends == "crashed":
                self.worker.register()
            for name, number in self.history.acts:
                found = self.act(name, number) or self.look(name not in QUIET)
                if found:
                    return found
            return self.serve_all() or questions.in_the_end(self.place)
        except Broken as error:
            return [Finding("a statement fails only with a code of qwf", "", str(error))]

    def look(self, at_rest: bool = True) -> list[Finding]:
        """Ask what has to hold at every moment; the invariants, which cost most, at every
        eighth moment at which nothing has come to rest, unless it is to look closely."""
        self.looks += 1
        return questions.now(self.place, invariants=at_rest or self.closely or self.looks % 8 == 0)

    def enqueue(self, statement: str) -> None:
        rows = self.place.ask(statement)
        if "qwf.enqueue_run(" in statement:
            self.runs += [row[0] for row in rows if row[0] not in self.runs]
        elif "qwf.enqueue(" in statement:
            self.jobs += [row[0] for row in rows if row[0] not in self.jobs]

    def act(self, name: str, number: int) -> list[Finding]:
        if name in MOVES:
            return MOVES[name](self, number) or []
        statement = self.of_people(name, number)
        if statement is not None:
            self.place.ask(statement)
        return []

    # what the worker and time do

    def claim(self, number: int) -> list[Finding]:
        asked = 1 + number % 4
        return self.judged(asked, self.worker.claim(asked))

    def judged(self, asked: int, got: int) -> list[Finding]:
        if early := questions.early(self.place, self.worker.fresh):
            return early
        if self.paused:
            return []
        found = questions.handed_out(self.place, asked, got)
        if found and not got:  # a claim may have ended a job of which a reference leads nowhere
            again = self.worker.claim(asked)
            return found if not again else []
        if found:
            return questions.handed_out(self.place, asked, self.worker.claim(asked))
        return []

    def end(self, number: int) -> list[Finding]:
        if not self.worker.held:
            return self.claim(number)
        return self.end_body(self.worker.held[number % len(self.worker.held)], number)

    def end_body(self, body: Body, number: int) -> list[Finding]:
        dice = random.Random(number)
        outcome = self.ends or dice.choice(OUTCOMES)
        if self.ends and dice.random() < 0.4:
            outcome = "completed"
        if body.stop and outcome != "completed":
            outcome = "cancelled"
        if outcome == "lapsed":
            return []  # it is forgotten: its lease lapses
        if outcome == "cancelled" and not body.stop:
            outcome = "error"
        asked = 2 if self.worker.reports == "and claims" else 0
        got = self.worker.end(body, outcome, done=dice.random() < 0.5, claims=asked)
        return [] if got is None else self.judged(asked, got)

    def tick(self, _: int) -> None:
        self.place.ask("select qwf.tick()")

    def beat(self, _: int) -> list[Finding]:
        self.worker.beat()
        tokens = ", ".join(body.token for body in self.worker.held if not body.stop)
        if not tokens:
            return []
        query = questions.NOT_STOPPED.format(tokens=tokens)
        return [
            Finding("concepts.md: bodies of a run that is over are told to stop", *row)
            for row in self.place.conn.execute(query.encode()).fetchall()
        ]

    def pass_time(self, number: int) -> None:
        if number % 3:
            self.worker.beat()
        self.place.pass_time(PASSES[number % len(PASSES)])
        self.place.ask("select qwf.tick()")

    def until_completed(self, number: int) -> list[Finding]:
        """Work until the first run is over, with bodies that complete."""
        ends, self.ends = self.ends, "completed"
        try:
            return self.until_over(number)
        finally:
            self.ends = ends

    def until_over(self, number: int) -> list[Finding]:
        """Work until the first run is over."""
        for count in range(9):
            if self.place.look(
                "select from qwf.runs where depth = 0 and finished_at is not null limit 1"
            ):
                return []
            found = self.claim(3)
            for body in list(self.worker.held)[:3]:
                found = found or self.end_body(body, number + 7 * count)
            if found:
                return found
            self.place.ask(TICK)
            self.place.pass_time(1)
        return []

    # what people do

    def of_people(self, name: str, number: int) -> str | None:
        """The statement of an act of an operator, or of whoever answers."""
        verb, _, what = name.partition(" ")
        run = self.runs[number % len(self.runs)] if self.runs else None
        job = self.jobs[number % len(self.jobs)] if self.jobs else None
        if verb in ("cancel", "retry") and what in ("run", "from"):
            if verb == "retry":
                over = self.place.look(
                    "select id from qwf.runs where depth = 0 and finished_at is not null"
                )
                run = over[number % len(over)][0] if over else run
            elif self.last_run is not None:
                run = self.last_run
            if run is None:
                return None
            self.last_run = run if verb == "retry" else None
            node = f", '{'abc'[number % 3]}'" if what == "from" else ""
            word = self.history.choice.get("people.completed") if verb == "retry" else None
            more = f", completed => '{word}'" if word else ""
            return f"select qwf.{verb}_run({run}{node}{more})"
        if what == "job":
            return None if job is None else f"select qwf.{verb}_job({job})"
        if name == "cancel below":
            rows = self.place.look("select id from qwf.runs where depth > 0 order by id")
            return f"select qwf.cancel_run({rows[number % len(rows)][0]})" if rows else None
        if verb == "change":
            rows = self.place.look(
                "select id from qwf.jobs where status in ('queued', 'scheduled') order by id"
            )
            if not rows:
                return None
            to = {
                "next": "run_next => true",
                "later": "run_at => qwf.now() + interval '2 min'",
                "limit": "limit_by => 'one'",
                "no limit": "limit_by => ''",
            }[what]
            return f"select qwf.change_job({rows[number % len(rows)][0]}, {to})"
        if verb == "pause":
            self.paused = True
            return f"select qwf.pause_queue('{'qwf.runs' if number else 'q'}')"
        if verb == "answer":
            rows = self.place.look(
                "select id from qwf.jobs where status = 'awaiting_input' and queue is not null"
                " order by id"
            )
            return f"select qwf.answer_job({rows[0][0]}, '\"{what}\"')" if rows else None
        return {
            "hold two": "select qwf.hold_limit('two', qwf.now() + interval '5 min')",
            "hold each": "select qwf.hold_limit('each', qwf.now() + interval '5 min', 'a')",
            "resume": "select qwf.resume_queue('q', task => 'work')",
            "lower": "select qwf.create_limit('two', 1)",
            "signal": "select qwf.signal('go', 'true')",
            "signal wrong": "select qwf.signal('go', '{\"x\": 1}')",
            "backfill": "select qwf.backfill('s', qwf.now() - interval '5 min', qwf.now())",
        }[name]

    # the end

    def serve_all(self) -> list[Finding]:
        """Let nobody hold up anything, complete every body, and let time go on until all is over,
        or nothing more can come."""
        for name in ("q", "qwf.runs"):
            if self.paused:
                self.place.ask(f"select qwf.resume_queue('{name}')")
        self.paused = False
        if "people.schedule" in self.history.choice:
            self.place.ask("select qwf.enable_schedule('s', false)")
        self.worker.beat()
        for step in AFTER:
            self.place.ask("select qwf.tick()")
            if found := self.serve():
                return found
            if not questions.still_open(self.place):
                return []
            self.place.pass_time(step)
        self.place.ask("select qwf.tick()")
        return self.serve() or questions.still_open(self.place)

    def serve(self) -> list[Finding]:
        """Serve all that can be served at this moment, after a tick."""
        ticked = True
        for _ in range(SERVED):
            self.answer()
            for body in list(self.worker.held):
                self.worker.end(body, "completed", done=True)
            found = self.judged(MANY, self.worker.claim(MANY))
            found = found or self.look(at_rest=ticked and not self.worker.held)
            if found or (ticked and not self.worker.held):
                return found
            if not self.worker.held:
                self.place.ask(TICK)
            ticked = not self.worker.held
        return [Finding("everything ends", "the worker", f"{SERVED} claims at one moment")]

    def answer(self) -> None:
        """Answer all questions, and send the signal that is waited for."""
        for job, run, node, failed, signal in self.place.look(
            "select id, run_id, node_id, queue is not null, input_spec ? 'signal' from qwf.jobs"
            " where status = 'awaiting_input' order by id"
        ):
            if failed:
                skipped = self.place.ask(f"select qwf.answer_job({job}, '\"skip\"')")
                if not skipped:  # it may have run
                    self.place.ask(f"select qwf.answer_job({job}, '\"has_run\"')")
            elif signal:
                self.place.ask("select qwf.signal('go', 'true')")
            else:
                self.place.ask(f"select qwf.submit_input({run}, '{node}', 'true')")


MOVES: dict[str, Callable[[Playing, int], list[Finding] | None]] = {
    "claim": Playing.claim,
    "end": Playing.end,
    "tick": Playing.tick,
    "beat": Playing.beat,
    "pass": Playing.pass_time,
    "until over": Playing.until_over,
    "until completed": Playing.until_completed,
}
# After these, nothing has come to rest.
QUIET = ("beat", "claim", "end", "until over", "until completed")

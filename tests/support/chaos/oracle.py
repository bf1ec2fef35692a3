"""Checks at the end. The oracle compares what producers, bodies and people wrote down
outside the engine with what the engine has recorded; each check is a sentence and a function."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.chaos.load import ENOUGH, MOST
from support.chaos.place import DURABLE, Place

Row = dict[str, Any]
LOST_CLAIM = ("lost", "lease_lapsed")
OVER = ("cancelled", "skipped", "failed")
EVENTS = """
select seq, kind, run_id, job_id, detail ->> 'status' as status from qwf.events order by seq
"""
HELD = """
select count(*) as n from qwf.events where kind = 'task_held' and subject = 'killer'
"""
CHARGE, REFUND = "parts/charge", "parts/refund"
LINE = 64  # bytes, of bodies.py, which only agents can import
STARTS_S = 2.0  # a child may still be starting when its job is claimed


@dataclass
class Evidence:
    """Notes from outside, and rows of the engine."""

    acknowledged: list[Row]
    edits: list[Row]
    bodies: list[Row]
    answers: list[Row]
    cancels: list[Row]
    signals: list[Row]
    saves: list[Row]
    deadly: list[Row]  # jobs of a task that killed its process on every box
    held: int  # how often that task was held back
    effects: list[Row]  # of turns, from a table of their own
    crashes: list[tuple[float, float]]
    wrong: list[str]
    jobs: dict[int, Row]
    attempts: list[Row]
    runs: dict[int, Row]
    files: list[Row]
    schedules: list[Row]
    looks: int
    read: list[Row]  # events, as somebody has read them meanwhile
    events: list[Row]

    def begun(self) -> list[Row]:
        return [one for one in self.bodies if one["what"] == "begins"]

    def ended(self) -> dict[str, Row]:
        """By mark: bodies that wrote down what they return."""
        return {one["mark"]: one for one in self.bodies if one["what"] == "ends"}

    def tried(self, kind: str) -> set[int]:
        """Jobs or runs that somebody wanted cancelled, told so or not; and the runs inside."""
        found = {one["id"] for one in self.cancels if one["kind"] == kind}
        if kind == "run":
            found |= {row["id"] for row in self.runs.values() if row["above"] in found}
        return found

    def by_claim(self) -> dict[tuple[int, int], Row]:
        return {(row["job_id"], row["attempt"]): row for row in self.attempts}

    def crashed_between(self, since: float, to: float) -> bool:
        """`since`: a body began. Its claim was made before that, perhaps while the child was still
        starting, and a crash since then may have lost it."""
        return any(began <= to and ended >= since - STARTS_S for began, ended in self.crashes)


def collect(place: Place, looks: int, read: list[Row]) -> Evidence:
    """Read everything."""
    place.ask("select qwf.tick()")  # the last events get their numbers
    jobs = place.ask(
        "select id, run_id, node_id, task, status::text, key, labels, output, attempt, failures,"
        " losses, retries, limit_by, parent_id, elements, schedule,"
        " input_spec is not null as asked,"
        " coalesce(starts_with(last_error, 'superseded by job'), false) as superseded,"
        " coalesce(starts_with(last_error, 'it may have run'), false) as maybe from qwf.jobs"
    )
    attempts = (
        "select job_id, attempt, outcome, reason, token::text, worker from qwf.attempt_overview"
    )
    runs = place.ask(
        "select r.id, r.status::text, r.error, r.key, j.run_id as above"
        " from qwf.runs r left join qwf.jobs j on j.id = r.parent_id"
    )
    for row in place.ask("select * from qwf.check_invariants()"):
        place.wrong.append(f"at the end an invariant does not hold: {row}")
    return Evidence(
        acknowledged=place.notes("acknowledged"),
        edits=place.notes("edits"),
        bodies=place.notes("bodies"),
        answers=place.notes("answers"),
        cancels=place.notes("cancels"),
        signals=place.notes("signals"),
        saves=place.notes("saves"),
        deadly=place.notes("deadly"),
        held=place.ask(HELD)[0]["n"],
        effects=[dict(row) for row in place.ask("select * from public.effects order by turn")],
        crashes=place.crashes,
        wrong=place.wrong,
        jobs={row["id"]: row for row in jobs},
        attempts=[dict(row) for row in place.ask(attempts)],
        runs={row["id"]: row for row in runs},
        files=[dict(row) for row in place.ask("select * from qwf.run_files where completed")],
        schedules=[dict(row) for row in place.ask("select * from qwf.schedules")],
        looks=looks,
        read=[dict(row) for row in read],
        events=[dict(row) for row in place.ask(EVENTS)],
    )


def what_was_acknowledged_is_there(evidence: Evidence) -> Iterator[str]:
    for one in evidence.acknowledged:
        rows = evidence.runs if one["kind"] == "run" else evidence.jobs
        row = rows.get(one["id"])
        if row is None:
            yield f"missing: {one}"
        elif row["key"] != one["key"] or (
            one["kind"] == "job"
            and (row["task"] != one["task"] or row["labels"].get("made") != one["label"])
        ):
            yield f"somebody else's: {one}, {row}"


def a_key_is_one_job(evidence: Evidence) -> Iterator[str]:
    ids: dict[tuple[str, str], set[int]] = defaultdict(set)
    for one in evidence.acknowledged:
        if one["key"] is not None:
            ids[one["kind"], one["key"]].add(one["id"])
    yield from (f"{key}: answered {found}" for key, found in ids.items() if len(found) > 1)
    for kind, rows in (("job", evidence.jobs), ("run", evidence.runs)):
        keys = Counter(
            row["key"] for row in rows.values()
            if row["key"] is not None and row.get("task") != "edit"
        )  # fmt: skip
        yield from (f"{kind} {key}: {count} rows" for key, count in keys.items() if count > 1)


def everything_ended_as_it_should(evidence: Evidence) -> Iterator[str]:
    """No fault fails a job for good: they complete, or are cancelled by somebody who wanted it."""
    jobs, runs = evidence.tried("job"), evidence.tried("run")
    for row in evidence.runs.values():
        if row["status"] != "completed" and not (
            row["status"] == "cancelled" and row["id"] in runs
        ):
            yield f"run {row['id']} is {row['status']}: {row['error']}"
    for row in evidence.jobs.values():
        if row["node_id"] == REFUND and row["status"] == "skipped":
            continue  # nothing was left to take back
        wanted = row["id"] in jobs or row["run_id"] in runs or row["superseded"]
        wanted = wanted or _is_not_needed(evidence, row)
        if row["task"] == "mail" and row["status"] == "failed" and row["maybe"]:
            continue
        if row["status"] != "completed" and not (wanted and row["status"] in OVER):
            yield f"job {row['id']} ({row['task']}) is {row['status']}"


def _is_not_needed(evidence: Evidence, row: Row) -> bool:
    """Return True for an element of a map that completed before it."""
    above = evidence.jobs.get(row["parent_id"] or 0)
    return above is not None and above["node_id"] == "enough" and above["status"] == "completed"


def enough_elements_are_enough(evidence: Evidence) -> Iterator[str]:
    """The list of the step has what its elements returned, and null for those that it stopped."""
    for row in evidence.jobs.values():
        if row["node_id"] != "enough" or row["status"] != "completed":
            continue
        own = [one for one in evidence.jobs.values() if one["parent_id"] == row["id"]]
        there = {one["output"]["mark"] for one in own if one["status"] == "completed"}
        given = [one["mark"] for one in row["output"] if one is not None]
        if len(row["output"]) != len(own) or len(given) < ENOUGH or not there >= set(given):
            yield f"job {row['id']}: {row['output']}, and its elements returned {there}"


def a_turn_has_its_effect_once(evidence: Evidence) -> Iterator[str]:
    """The turns of a run have made their effects one after the other, and none is left out. Each
    began with what the one before it gave."""
    loops = {row["run_id"]: row for row in evidence.jobs.values() if row["node_id"] == "loop"}
    made: dict[int, list[Row]] = defaultdict(list)
    for one in evidence.effects:
        made[one["run_id"]].append(one)
    for run, row in loops.items():
        turns = [one["turn"] for one in made[run]]
        if turns != list(range(len(turns))):
            yield f"run {run}: the effects are of turns {turns}"
        if row["status"] == "completed" and len(turns) != row["elements"]:
            yield f"run {run}: {row['elements']} turns, and {len(turns)} effects"
        if [one["before"] for one in made[run]] != [None, *turns][: len(turns)]:
            yield f"run {run}: a turn began with another than the last: {made[run]}"
        if [one["id"] for one in made[run]] != sorted(one["id"] for one in made[run]):
            yield f"run {run}: a turn overtook another: {made[run]}"


def an_output_is_of_one_body(evidence: Evidence) -> Iterator[str]:
    """The output of a job is what a body of it wrote down, in the attempt that completed."""
    ended, last = evidence.ended(), _completed(evidence)
    for row in evidence.jobs.values():
        if row["status"] != "completed" or row["asked"] or row["elements"] is not None:
            continue
        if row["task"].startswith("qwf."):  # a run, which has no body
            continue
        body = ended.get((row["output"] or {}).get("mark", ""))
        if body is None or body["job"] != row["id"] or body["output"] != row["output"]:
            yield f"job {row['id']}: {row['output']} was written by no body of it"
        elif body["attempt"] != last.get(row["id"]):
            yield f"job {row['id']}: its output is of attempt {body['attempt']}, " + (
                f"and attempt {last.get(row['id'])} completed"
            )


def _completed(evidence: Evidence) -> dict[int, int]:
    """By job: its last attempt that completed."""
    found: dict[int, int] = {}
    for row in evidence.attempts:
        if row["outcome"] == "completed":
            found[row["job_id"]] = max(found.get(row["job_id"], 0), row["attempt"])
    return found


def a_job_completes_once(evidence: Evidence) -> Iterator[str]:
    counts = Counter(row["job_id"] for row in evidence.attempts if row["outcome"] == "completed")
    for job, count in counts.items():
        row = evidence.jobs.get(job)
        if row is not None and count > 1 + row["retries"]:
            yield f"job {job}: {count} completed attempts, {row['retries']} retries"


def a_charge_is_taken_back_once(evidence: Evidence) -> Iterator[str]:
    """Of each run: as many refunds have completed as charges, but for the one that it stands on if
    it completed. Attempts are fenced: a body whose job is another's by now counts nothing."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for row in evidence.attempts:
        job = evidence.jobs.get(row["job_id"])
        if job is not None and row["outcome"] == "completed":
            counts[job["run_id"] or 0][job["node_id"] or ""] += 1
    for run in evidence.runs.values():
        charges, refunds = counts[run["id"]][CHARGE], counts[run["id"]][REFUND]
        kept = charges > 0 and run["status"] == "completed"
        if charges - refunds != int(kept):
            yield f"run {run['id']} is {run['status']}: {charges} charges, {refunds} refunds"


def a_body_is_an_attempt(evidence: Evidence) -> Iterator[str]:
    """Every body that began is an attempt that was recorded. Only a crash of the server lets it
    forget a claim; it does not forget one of the box with durable claims."""
    claims, begun = evidence.by_claim(), _by_claim(evidence.begun())
    for (job, attempt), bodies in begun.items():
        if job not in evidence.jobs:  # an element of a map that was made again
            continue
        first, last = bodies[0], bodies[-1]
        forgotten = [*bodies[:-1], *([] if (job, attempt) in claims else [last])]
        to = last["at"] if len(bodies) > 1 and (job, attempt) in claims else float("inf")
        if forgotten and not evidence.crashed_between(first["at"], to):
            yield f"job {job}, attempt {attempt}: {len(bodies)} bodies, and no crash between"
        for body in forgotten:
            if body["box"] == DURABLE:
                yield f"job {job}, attempt {attempt}: a durable claim was forgotten"


def _by_claim(bodies: Iterable[Row]) -> dict[tuple[int, int], list[Row]]:
    found: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for one in sorted(bodies, key=lambda body: body["at"]):
        found[one["job"], one["attempt"]].append(one)
    return found


def bodies_overlap_only_after_a_lapse(evidence: Evidence) -> Iterator[str]:
    """A body of a job begins while an earlier one still runs only if the lease of that one lapsed,
    and the engine says so; or if a crash made it forget the claim."""
    claims, ended = evidence.by_claim(), evidence.ended()
    of_job: dict[int, list[Row]] = defaultdict(list)
    for one in sorted(evidence.begun(), key=lambda body: body["at"]):
        of_job[one["job"]].append(one)
    for job, bodies in of_job.items():
        for place, earlier in enumerate(bodies):
            end = ended.get(earlier["mark"])
            for later in bodies[place + 1 :]:
                if end is None or later["at"] >= end["at"]:
                    continue
                row = claims.get((job, earlier["attempt"]), {})
                lapsed = (row.get("outcome"), row.get("reason")) == LOST_CLAIM
                forgotten = evidence.crashed_between(earlier["at"], later["at"])
                if not lapsed and not forgotten:
                    yield (
                        f"job {job}: attempt {later['attempt']} began before attempt "
                        f"{earlier['attempt']} ended, which is {row.get('outcome')} "
                        f"({row.get('reason')})"
                    )


def a_deadly_task_is_held(evidence: Evidence) -> Iterator[str]:
    """A task is held back if it kills its process on two boxes. It lets others go on, and goes on
    when it is mended: they complete, as everything does."""
    boxes: dict[int, set[str]] = defaultdict(set)
    for row in evidence.attempts:
        if (row["outcome"], row["reason"]) == ("lost", "crashed"):
            boxes[row["job_id"]].add(row["worker"].split(":")[0])
    wanted = 0
    for strike in evidence.deadly:
        wanted += len(set().union(*(boxes[job] for job in strike["jobs"]))) > 1
    if evidence.held < wanted:
        yield f"the task crashed {wanted} times on two boxes, and was held {evidence.held} times"


def losses_are_counted(evidence: Evidence) -> Iterator[str]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for row in evidence.attempts:
        maybe = row.get("reason") == "maybe_run"
        counts[row["job_id"]]["lost" if maybe else row["outcome"]] += 1
    for job, row in evidence.jobs.items():
        if row["retries"]:
            continue  # counts from 0 again
        found = counts[job]
        failures = found["error"] + found["tempfail"] + found["fatal"]
        if row["losses"] != found["lost"] or row["failures"] != failures:
            yield f"job {job}: {row['losses']} losses, {row['failures']} failures, {dict(found)}"


def a_mail_is_sent_at_most_once(evidence: Evidence) -> Iterator[str]:
    """A body that runs at most once has begun once, if its job completed or may have run; and once
    at most whatever became of it."""
    begun = Counter(one["job"] for one in evidence.begun() if one["task"] == "mail")
    for job, count in begun.items():
        if count > 1:
            yield f"job {job} began {count} times"
    for row in evidence.jobs.values():
        if row["task"] == "mail" and row["status"] == "completed" and not begun[row["id"]]:
            yield f"job {row['id']} completed, and never began"


def a_limit_holds(evidence: Evidence) -> Iterator[str]:
    """Bodies that completed held their place of the limit all the time."""
    ended, moves = evidence.ended(), []
    limited = {row["id"]: row for row in evidence.jobs.values() if row["limit_by"] is not None}
    for one in evidence.begun():
        row = limited.get(one["job"])
        end = ended.get(one["mark"])
        if row is not None and end is not None and (row["output"] or {}).get("mark") == one["mark"]:
            moves += [(one["at"], 1, one["job"]), (end["at"], -1, one["job"])]
    running: dict[str, set[int]] = defaultdict(set)  # of each limit, and of each key of one
    for at, step, job in sorted(moves, key=lambda move: move[:2]):
        beside = running[limited[job]["limit_by"]]
        (beside.add if step > 0 else beside.discard)(job)
        if len(beside) > MOST:
            yield f"at {at:.1f}: jobs {sorted(beside)} at once, of a limit of {MOST}"


def the_last_edit_has_run(evidence: Evidence) -> Iterator[str]:
    """A body that completed has used the last acknowledged text of each document, or a later one
    whose acknowledgement was lost; and no other edit has run after it."""
    last: dict[str, int] = {}
    for one in evidence.edits:
        last[one["document"]] = max(last.get(one["document"], 0), one["number"])
    used: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for one in evidence.begun():
        row = evidence.jobs.get(one["job"])
        if row is None or "document" not in one:
            continue
        if (row["output"] or {}).get("mark") == one["mark"]:
            used[one["document"]].append((one["at"], one["number"]))
    for document, number in last.items():
        done = sorted(used[document])
        if not done or done[-1][1] < number:
            yield f"{document}: edit {number} was acknowledged, the last that ran are {done[-3:]}"


def a_body_that_saved_goes_on_from_there(evidence: Evidence) -> Iterator[str]:
    saved: dict[int, list[Row]] = defaultdict(list)
    for one in evidence.bodies:
        if one["what"] == "saves":
            saved[one["job"]].append(one)
    for one in evidence.begun():
        steps = [other["step"] for other in saved[one["job"]] if other["at"] < one["at"]]
        if steps and one["saved"] < max(steps):
            yield f"job {one['job']}: began after step {one['saved']}, and had saved {max(steps)}"


def a_node_reads_what_has_ended(evidence: Evidence) -> Iterator[str]:
    """A node begins after those that it depends on have ended, and reads what they returned. What a
    completed run has read is what it has recorded."""
    ended, recorded = evidence.ended(), _marks(evidence)
    for one in evidence.begun():
        for mark in one["read"]:
            read = ended.get(mark)
            if read is None or read["at"] > one["at"]:
                yield f"{one['node']} of run {one['run']} read {mark}, which had not ended"
        row = evidence.jobs.get(one["job"])
        run = evidence.runs.get(one["run"] or 0)
        if run is None or run["status"] != "completed" or row is None:
            continue
        if (row["output"] or {}).get("mark") == one["mark"]:
            yield from (
                f"{one['node']} of run {one['run']} read {mark}, which is no output of the run"
                for mark in set(one["read"]) - recorded[one["run"]]
            )


def _marks(evidence: Evidence) -> dict[int, set[str]]:
    """By run: the marks of the outputs of its nodes."""
    found: dict[int, set[str]] = defaultdict(set)
    for row in evidence.jobs.values():
        if row["run_id"] is not None and isinstance(row["output"], dict):
            found[row["run_id"]].add(row["output"].get("mark", ""))
    return found


def an_answer_stays(evidence: Evidence) -> Iterator[str]:
    """A question has the answer that was acknowledged, or one whose acknowledgement was lost."""
    done = {(one["run"], one["node"]): one for one in evidence.answers if one["what"] == "done"}
    for row in evidence.jobs.values():
        one = done.get((row["run_id"], row["node_id"]))
        if one is not None and row["status"] == "completed" and one["value"] not in str(
            row["output"]
        ):  # fmt: skip
            yield f"run {row['run_id']}: answered {one['value']}, recorded {row['output']}"
        if one is not None and row["status"] == "awaiting_input":
            yield f"run {row['run_id']}: answered {one['value']}, and still asks"


def a_signal_answers_its_step(evidence: Evidence) -> Iterator[str]:
    """The output of a step that waited is a signal of its name that fits; and no step waits for one
    that has been acknowledged."""
    tried: dict[str, set[str]] = defaultdict(set)
    for one in evidence.signals:
        tried[one["order"]].add(one["value"])
    done = {one["order"] for one in evidence.signals if one["what"] == "done"}
    for row in evidence.jobs.values():
        if row["node_id"] == "paid":
            order = evidence.runs[row["run_id"]]["key"]
            if row["status"] == "completed" and row["output"]["value"] not in tried[order]:
                yield f"run {row['run_id']}: {row['output']} was not sent"
            if row["status"] == "awaiting_input" and order in done:
                yield f"run {row['run_id']} waits for a signal that was sent"


def a_body_goes_on_from_the_last_checkpoint(evidence: Evidence) -> Iterator[str]:
    """A save that has returned is what the next attempt gets, whatever was killed or crashed."""
    saved: dict[int, list[Row]] = defaultdict(list)
    for one in evidence.saves:
        if one["what"] == "saved":
            saved[one["job"]].append(one)
    for one in evidence.saves:
        if one["what"] == "goes on":
            for save in saved[one["job"]]:
                if save["attempt"] < one["attempt"] and save["step"] > one["step"]:
                    yield f"{one}, and {save}"


def who_was_cancelled_stays_so(evidence: Evidence) -> Iterator[str]:
    for one in evidence.cancels:
        if one["what"] == "done" and one["kind"] == "job" and one["answer"] == "cancelled":
            row = evidence.jobs.get(one["id"])
            if row is None or row["status"] != "cancelled":
                yield f"{one}: {row and row['status']}"
        if one["what"] == "done" and one["kind"] == "run" and one["answer"] is True:
            run = evidence.runs.get(one["id"])
            if run is None or run["status"] != "cancelled":
                yield f"{one}: {run and run['status']}"


def files_are_there(evidence: Evidence) -> Iterator[str]:
    """The file of a completed job is there, whole, and listed."""
    listed = {(row["job_id"], Path(row["rel_path"]).name): row for row in evidence.files}
    for job, row in evidence.jobs.items():
        if row["task"] != "write" or row["status"] != "completed":
            continue
        output = row["output"]
        file = Path(output["file"])
        written = output["mark"].encode()
        if not file.exists():
            yield f"job {job}: {file} is missing"
        elif file.read_bytes().count(written) * LINE != output["size"]:
            yield f"job {job}: {file} is not what was written"
        elif (job, file.name) not in listed:
            yield f"job {job}: {file} is not listed"
        elif listed[job, file.name]["size_bytes"] != output["size"]:
            yield f"job {job}: {file} is listed with another size"


def a_schedule_counts_what_it_enqueued(evidence: Evidence) -> Iterator[str]:
    made = Counter(row["schedule"] for row in evidence.jobs.values())
    for row in evidence.schedules:
        jobs = made[row["name"]]
        if row["fired"] != jobs:
            yield f"{row['name']} fired {row['fired']} times, and there are {jobs} jobs"


def events_are_read_once_and_in_order(evidence: Evidence) -> Iterator[str]:
    """Who reads while the server crashes has read what is there afterwards, from the first on."""
    numbers = [row["seq"] for row in evidence.events]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the numbers are not 1 to {len(numbers)}"
    for read, there in zip(evidence.read, evidence.events, strict=False):
        if read != there:
            yield f"read {read}, and there is {there}"
    if not evidence.read or len(evidence.read) > len(evidence.events):
        yield f"{len(evidence.read)} were read, and there are {len(evidence.events)}"


def each_end_of_a_run_is_an_event(evidence: Evidence) -> Iterator[str]:
    """One for the first try and one for each retry, the last with the state of the run."""
    ends: dict[int, list[str]] = defaultdict(list)
    retries = Counter(
        row["run_id"] for row in evidence.events
        if row["kind"] == "retried" and row["job_id"] is None
    )  # fmt: skip
    for row in evidence.events:
        if row["kind"] == "run_ended":
            ends[row["run_id"]].append(row["status"])
    for run in evidence.runs.values():
        found = ends[run["id"]]
        if len(found) != 1 + retries[run["id"]] or found[-1] != run["status"]:
            yield f"run {run['id']} is {run['status']} after {retries[run['id']]} retries: {found}"


def nothing_else_went_wrong(evidence: Evidence) -> Iterator[str]:
    """Invariants at every look, agents that end by themselves, late reports that are taken, and
    processes that are left."""
    yield from evidence.wrong
    if not evidence.looks:
        yield "nobody looked at the invariants"
    if not evidence.acknowledged or not evidence.bodies:
        yield "there was no work"


CHECKS: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "every acknowledged job and run is there": what_was_acknowledged_is_there,
    "a key is one job, and everybody who gave it got its id": a_key_is_one_job,
    "everything completed, or was cancelled by request": everything_ended_as_it_should,
    "an output is what one body of the completed attempt returned": an_output_is_of_one_body,
    "a job completed once": a_job_completes_once,
    "each charge that a run does not stand on was refunded once": a_charge_is_taken_back_once,
    "each turn has its effect once, after the one before it": a_turn_has_its_effect_once,
    "enough elements are enough": enough_elements_are_enough,
    "a body is a recorded attempt, unless a crash lost its claim": a_body_is_an_attempt,
    "bodies of a job overlap only after its lease lapsed": bodies_overlap_only_after_a_lapse,
    "losses and failures are those of the attempts": losses_are_counted,
    "a task that kills its process on two boxes is held": a_deadly_task_is_held,
    "no body that runs at most once began twice": a_mail_is_sent_at_most_once,
    "a limit holds": a_limit_holds,
    "the last acknowledged edit of a document has run": the_last_edit_has_run,
    "a body that saved goes on from there": a_body_that_saved_goes_on_from_there,
    "a node reads only what has ended": a_node_reads_what_has_ended,
    "an acknowledged answer stays": an_answer_stays,
    "an acknowledged signal answers its step": a_signal_answers_its_step,
    "a body goes on from the last checkpoint": a_body_goes_on_from_the_last_checkpoint,
    "an acknowledged cancel stays": who_was_cancelled_stays_so,
    "the files of completed jobs are there": files_are_there,
    "a schedule counts what it enqueued": a_schedule_counts_what_it_enqueued,
    "events are read once and in order": events_are_read_once_and_in_order,
    "each end of a run is an event": each_end_of_a_run_is_an_event,
    "invariants held, agents lived, no late report was taken": nothing_else_went_wrong,
}


def judge(evidence: Evidence) -> dict[str, list[str]]:
    """By check: what is wrong."""
    return {sentence: list(check(evidence)) for sentence, check in CHECKS.items()}

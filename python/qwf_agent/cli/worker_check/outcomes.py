"""Checks: the outcomes of attempts, and outputs of every kind."""

from __future__ import annotations

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.kit import ENDS_WITHIN_S, Kit
from qwf_agent.look import connection

TEXT: dict[str, object] = {
    "text": "ä 漢字 😀 \" \\ ' $1 %s {} \t\n",
    "empty": "",
    "list": [],
    "object": {},
    "null": None,
}
NUMBERS = (
    '{"beyond 2^53": 9007199254740993, "beyond 2^64": 123456789012345678901234567890,'
    ' "negative": -9223372036854775808, "fraction": 0.1, "large": 1e30}'
)
ECHO = """
select qwf.enqueue('check.echo', %s::jsonb, queue => %s, max_attempts => 1) as job
"""
KEPT = "select output::text as text, output = inputs as same from qwf.job_details where id = %s"


@check(
    "completed",
    about="The output of a body is stored as the body returned it.",
    hint="report completed with the output as a JSON object, sent as $1::text::jsonb",
    section="Report",
)
def completed(kit: Kit) -> str:
    """Echo texts that a careless client changes."""
    kit.worker()
    row = kit.completes(kit.enqueue("check.echo", TEXT))
    kit.expect(row["output"] == TEXT, f"The output differs from the inputs: {row['output']!r}.")
    return "The output has every letter of the inputs."


@check(
    "numbers",
    about="Numbers beyond 2^53 are as large in the output as in the inputs.",
    hint="read JSON with a parser that keeps large numbers",
    section="What your driver changes",
)
def numbers(kit: Kit) -> str:
    """Echo numbers that a float cannot hold."""
    kit.worker()
    (row,) = connection.many(kit.conn, ECHO, [NUMBERS, kit.queue])
    kit.completes(row["job"])
    (kept,) = connection.many(kit.conn, KEPT, [row["job"]])
    kit.expect(kept["same"], f"Numbers have changed: {kept['text'][:300]}.")
    return "The numbers came back unchanged."


@check(
    "error",
    about="A body that fails is reported as error, with its message, and is tried again.",
    hint="report error, with the message of the body in error",
    section="Report",
)
def error(kit: Kit) -> str:
    """Let a body fail twice."""
    job, ends = fail(kit, "error", max_attempts=2, backoff=[0])
    row = kit.ends(job)
    ends = [one["outcome"] for one in kit.attempts(job)]
    kit.expect(ends == ["error", "error"], f"Two errors were expected; {kit.told(row)}.")
    kit.expect("planned error" in (row["last_error"] or ""),
               f"The message of the body is missing; {kit.told(row)}.")  # fmt: skip
    return "Two attempts ended as error, with the message of the body."


@check(
    "tempfail",
    about="A body that fails for now is reported as tempfail.",
    hint="give bodies a way to say that they failed for now, and report tempfail",
    section="Report",
)
def tempfail(kit: Kit) -> str:
    """Let a body fail for now."""
    job, ends = fail(kit, "tempfail")
    kit.expect(ends == ["tempfail"], f"Should be tempfail; {kit.told(kit.job(job))}.")
    return "The attempt ended as tempfail."


@check(
    "fatal",
    about="A body that would fail again is reported as fatal, and is not tried again.",
    hint="give bodies a way to say that they would fail again, and report fatal",
    section="Report",
)
def fatal(kit: Kit) -> str:
    """Let a body fail for good, though it has attempts left."""
    job, ends = fail(kit, "fatal", max_attempts=3, backoff=[0])
    kit.expect(ends == ["fatal"], f"Should be fatal; {kit.told(kit.job(job))}.")
    return "The attempt ended as fatal, and there was no other."


def fail(kit: Kit, kind: str, **options: object) -> tuple[int, list[str]]:
    """Let a body fail in this way; returns its job and how its attempts ended until now."""
    kit.worker()
    args = {"kind": kind, "message": f"planned {kind}"}
    job = kit.enqueue("check.fail", args, **options)
    kit.until(lambda: kit.attempts(job), bool, ENDS_WITHIN_S)
    return job, [one["outcome"] for one in kit.attempts(job)]


@check(
    "timeout",
    about="A body that runs over its timeout is stopped, and reported as lost.",
    hint="stop the body after the timeout of its claim; report lost, with timeout as the reason",
    section="Claim",
)
def timeout(kit: Kit) -> str:
    """Give a long body a second."""
    kit.worker()
    beat = kit.new_file()
    args = {"seconds": 20, "beat": str(beat)}
    job = kit.enqueue("check.sleep", args, timeout="1 s", max_losses=1)
    row = kit.ends(job)
    ends = [one["outcome"] for one in kit.attempts(job)]
    kit.expect(ends == ["lost"], f"A timeout should end as lost; {kit.told(row)}.")
    kit.expect(kit.falls_silent(beat, 5), "It was reported as lost, but its body went on.")
    seconds = (row["finished_at"] - row["claimed_at"]).total_seconds()
    return f"It was stopped and reported as lost after {seconds:.1f} s."


@check(
    "null-character",
    about="An output that cannot be stored ends its job, and no other.",
    hint="send each report of the call again alone, and fatal for the one that is refused",
    section="Report",
)
def null_character(kit: Kit) -> str:
    """Let a body return U+0000."""
    return unstorable(kit, {"kind": "null"}, "an output with U+0000")


@check(
    "no-object",
    about="An output that is not a JSON object ends its job.",
    hint="report error or fatal instead if the output is not an object",
    section="Report",
)
def no_object(kit: Kit) -> str:
    """Let a body return a list."""
    return unstorable(kit, {"kind": "list"}, "a list as output")


@check(
    "large-output",
    about="An output of more than max_value_bytes ends its job.",
    hint="report fatal with the message if a report is refused with an error of class 54 or QW",
    section="Report",
)
def large_output(kit: Kit) -> str:
    """Let a body return more than may be stored."""
    args = {"kind": "large", "bytes": int(kit.times["max_value_bytes"]) + 1000}
    return unstorable(kit, args, "an output that is too large")


def unstorable(kit: Kit, args: dict[str, object], what: str) -> str:
    """Run a body whose output is refused, between two others."""
    kit.worker()
    before, job = kit.enqueue("check.echo"), kit.enqueue("check.output", args)
    after = kit.enqueue("check.echo")
    row = kit.ends(job)
    ends = [one["outcome"] for one in kit.attempts(job)]
    kit.expect(ends in (["fatal"], ["error"]),
               f"After {what} the job should fail in one attempt; {kit.told(row)}.")  # fmt: skip
    kit.expect(row["last_error"], f"After {what} the job failed without an error.")
    kit.completes(before)
    kit.completes(after)
    return f"The job failed ({ends[0]}): {row['last_error'].splitlines()[0][:150]}"


CHECKS = (
    completed, numbers, error, tempfail, fatal, timeout, null_character, no_object, large_output,
)  # fmt: skip

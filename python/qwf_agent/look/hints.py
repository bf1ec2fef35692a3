"""The hints of the database, with a command of `qwf` in place of a statement where there is one."""

from __future__ import annotations

import re

import psycopg

READ_ONLY = "25006"  # of a transaction that writes
STANDBY = (
    "this server is a standby, which takes no writes: use the address of the primary, or one that"
    " names all servers and has target_session_attrs=read-write"
)
NAME = r"'([\w.:/@-]+)'"  # a name that needs no quotes in a shell; any other stays in its statement
COMMANDS = [
    (re.compile(statement), command)
    for statement, command in (
        (r"select \* from qwf\.recent_jobs\b", "qwf jobs"),
        (r"select \* from qwf\.run_overview\b", "qwf runs"),
        (r"select \* from qwf\.schedule_overview\b", "qwf schedules"),
        (r"select \* from qwf\.setting_overview\b", "qwf settings"),
        (r"select \* from qwf\.limits\b", "qwf limits"),
        (r"select \* from qwf\.why_not\((\d+)\)", r"qwf why \1"),
        (r"select qwf\.result\((\d+)\)", r"qwf job \1"),
        (r"select qwf\.run_status\((\d+)\)", r"qwf show \1"),
        (
            rf"select qwf\.retry_run\((\d+), {NAME}, completed => '(\w+)'\)",
            r"qwf retry run \1 --from \2 --\3",
        ),
        (r"retry_run with completed => 'compensate'", "qwf retry run with --compensate"),
        (r"with completed => 'keep'", "with --keep"),
        (rf"select qwf\.retry_run\((\d+), {NAME}\)", r"qwf retry run \1 --from \2"),
        (r"select qwf\.retry_run\((\d+), latest => true\)", r"qwf retry run \1 --latest"),
        (
            r"select qwf\.retry_run\((\d+), named => '\{([^'{}]*)\}'\)",
            r"qwf retry run \1 --named '\2'",
        ),
        (r"select qwf\.retry_job\((\d+)\)", r"qwf retry job \1"),
        (r"select qwf\.retry_run\(run, 'step/node'\)", "qwf retry run RUN --from STEP/NODE"),
        (rf"select qwf\.create_limit\({NAME}, (\d+)\)", r"qwf limit create \1 \2"),
        (
            rf"select qwf\.create_limit\({NAME}, (\d+), keyed => true\)",
            r"qwf limit create \1 \2 --keyed",
        ),
        (
            rf"select qwf\.hold_limit\({NAME}, until, key => {NAME}\)",
            r"qwf limit hold \1 --key \2 TIME",
        ),
        (r"select qwf\.create_limit\(name, more\)", "qwf limit create NAME MORE"),
        (rf"select qwf\.create_queue\({NAME}\)", r"qwf queue create \1"),
        (
            rf"select qwf\.create_queue\({NAME}, max_running => (\d+)\)",
            r"qwf queue create \1 --max-running \2",
        ),
        (r"for example: select qwf\.enqueue_run\(.*\)", "for example: qwf run greet --set who=Ada"),
        (r", or select qwf\.register_workflow\('\{\.\.\.\}'\)", ""),
    )
]


def of(said: psycopg.errors.Diagnostic) -> str | None:
    """The hint of an error or a notice, for somebody at a terminal."""
    if said.sqlstate == READ_ONLY or "during recovery" in (said.message_primary or ""):
        return STANDBY
    hint = said.message_hint
    for statement, command in COMMANDS if hint else ():
        hint = statement.sub(command, hint or "")
    return hint

"""Draws events for a terminal, a line each."""

from __future__ import annotations

from rich.text import Text

from qwf_agent.look.draw.words import Row, changed, cut, moment, state

LONGEST = 200  # characters of a value in a line


def line(row: Row) -> Text:
    """Number, time, kind, what it is about, who did it, and the detail of an event."""
    detail = dict(row["detail"] or {})
    by = row["acting_for"]
    about = [row["subject"], *(f"{what} {row[key]}" for what, key in IDS if row[key] is not None)]
    return Text.assemble(
        (f"{row['seq']:>6}  ", "bold"),
        (moment(row["at"]), "bright_black"),
        (f"  {row['kind'].replace('_', ' ')}  ", "magenta"),
        "  ".join(str(one) for one in about if one),
        (f"  by {row['login']}" + (f" for {by}" if by else ""), "bright_black"),
        *(("  ", state(str(detail.pop("status")))) if "status" in detail else ()),
        *("  " + cut(change, LONGEST) for change in changed(detail)),
    )


IDS = (("run", "run_id"), ("job", "job_id"))

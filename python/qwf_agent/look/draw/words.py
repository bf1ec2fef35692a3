"""Formats single values: states, times, sizes, bars."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from rich.text import Text

from qwf_agent.look import masking
from qwf_agent.look.draw.visible import visible

Row = Mapping[str, Any]

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
CRON_NAMES = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"}
PLAIN_LOGIN = re.compile(r"[a-z_][a-z0-9_]*")

LOOKS = {
    "blocked": ("·", "bright_black"),
    "scheduled": ("◷", "bright_black"),
    "queued": ("○", "cyan"),
    "running": ("●", "yellow"),
    "awaiting_input": ("?", "magenta"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "broken": ("✗", "red"),
    "gone": ("✗", "red"),
    "cancelled": ("⊘", "bright_black"),
    "skipped": ("↷", "bright_black"),
}
FLEET_LOOKS = {
    "idle": "green",
    "busy": "yellow",
    "on": "green",
    "off": "red",
    "parked": "magenta",
    "paused": "magenta",
    "dead": "red",
    "unserved": "red",
    "stopped": "bright_black",
    "disabled": "bright_black",
    "starting": "yellow",
    "ready": "green",
    "draining": "yellow",
    "asleep": "bright_black",
    "stopping": "yellow",
    "failed": "red",
    "broken": "red",
    "gone": "red",
    "not chosen": "bright_black",
}
TROUBLE = ("broken", "failed", "gone")  # states of a model server, the worst first
SERVING = ("ready", "draining")  # states of a model server that answers requests
MOST_NAMES = 10
OVER = {"completed", "failed", "cancelled"}
BAR = 12
MOST_TOKENS = 10**15  # of an attempt; a body may say any number
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
FOREVER = {"infinity": "never", "-infinity": "always"}


class FarTime(datetime):
    """A time that Python cannot hold: infinite, before Christ, or after the year 9999.

    It compares as the earliest or latest time of Python, and is written as the database wrote it.
    """

    text = "?"

    @classmethod
    def read(cls, text: str) -> FarTime:
        """The time that the database wrote as `text`."""
        early = text.startswith("-") or text.endswith(" BC")
        extreme = datetime.min if early else datetime.max
        far = cls.combine(extreme.date(), extreme.time(), timezone.utc)
        far.text = text
        return far

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """The text of the database."""
        return self.text


def who(login: str, acting_for: str | None) -> str:
    """Return who did something: the login, and for whom it said it acts. A login that is not a
    plain name is in quotes, so that it cannot be mistaken for a login with a name."""
    name = login if PLAIN_LOGIN.fullmatch(login) else f'"{visible(login)}"'
    return f"{name}, acting for {visible(acting_for)}" if acting_for else name


def made_by(row: Row) -> str:
    """Return who enqueued a job or a run; an empty text for a node, because its run made it."""
    if row["login"] is None:
        return ""
    by = f" by {who(row['login'], row['acting_for'])}"
    return f" by schedule {row['schedule']}, fired{by}" if row.get("schedule") else by


def state_name(status: str) -> str:
    """The word for a state."""
    return "asked" if status == "awaiting_input" else status.replace("_", " ")


def state(status: str) -> Text:
    """A state with its sign and colour."""
    sign, colour = LOOKS.get(status, (" ", ""))
    return Text(f"{sign} {state_name(status)}", colour)


def duration(seconds: float) -> str:
    """Seconds as a person writes them: `13 ms`, `9.9 s`, `1 min 00 s`."""
    if seconds < 0.0995:
        ms = f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "under 1 ms"
        return ms if seconds > 0 else "0 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 48 else f"{hours // 24} d {hours % 24:02} h"


def spell(length: timedelta) -> str:
    """A length of time, exactly: `37 min`, `1 d 12 h`."""
    rest, parts = round(length.total_seconds(), 3), []
    for unit, worth in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        number = rest / worth if unit == "s" else rest // worth
        rest -= number * worth
        parts += [f"{number:g} {unit}"] if number else []
    return " ".join(parts) or "0 s"


def when_due(due: str, every: timedelta | None) -> str:
    """The times of a schedule in words, as far as they are simple: `weekdays at 02:00`."""
    if every is not None:
        seconds = every.total_seconds()
        for unit, worth in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
            if seconds >= worth and seconds % worth == 0:
                number = int(seconds // worth)
                return f"every {unit}" if number == 1 else f"every {number} {unit}s"
        return f"every {spell(every)}"
    due = CRON_NAMES.get(due, due)
    if daily := re.fullmatch(r"(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-7])", due):
        minute, hour, days = daily.groups()
        said = {"*": "every day", "1-5": "weekdays"}.get(days) or f"{DAYS[int(days) % 7]}s"
        return f"{said} at {int(hour):02}:{int(minute):02}"
    if hourly := re.fullmatch(r"(\d{1,2}) \* \* \* \*", due):
        return f"every hour at minute {int(hourly[1])}"
    if often := re.fullmatch(r"(?:\*/(\d+)|\*) \* \* \* \*", due):
        number = int(often[1] or 1)
        if number and 60 % number == 0:
            return "every minute" if number == 1 else f"every {number} minutes"
    return due


def by_trouble(server: Row) -> tuple[int, str]:
    """The place of a model server in a list: those in trouble come first."""
    state = server["state"]
    return TROUBLE.index(state) if state in TROUBLE else len(TROUBLE), server["server"]


def served(server: Row) -> str:
    """The models that a model server serves, or could serve. At most ten names."""
    if server["model"]:
        return str(server["model"])
    names = ", ".join(server["models"][:MOST_NAMES])
    names += ", …" if len(server["models"]) > MOST_NAMES else ""
    return names if server["state"] in SERVING else f"can serve {names}"


def server_error(server: Row) -> str:
    """The first line of why a model server does not work, or of why it ended last."""
    line = (server["error"] or "").strip().partition("\n")[0]
    if not line or server["state"] in TROUBLE:
        return line
    return f"{'last error' if server['external'] else 'last ended'}: {line}"


def server_state(state: str) -> Text:
    """The state of a model server. Off is how it rests, and nothing to look at."""
    return Text(state, "bright_black" if state == "off" else FLEET_LOOKS.get(state, ""))


def size(number: float) -> str:
    """Bytes as a person writes them."""
    step = 0
    while number >= 1000 and step < len(UNITS) - 1:
        number, step = number / 1024, step + 1
    return (
        f"{number:.1f} {UNITS[step]}" if step and number < 99.95 else f"{number:.0f} {UNITS[step]}"
    )


def tokens(usage: Any) -> str | None:
    """The tokens that an attempt used, of what its body said; None if it did not say."""
    given = usage if isinstance(usage, dict) else {}
    counts = [
        f"{given[key]:,.0f} {name}"
        for key, name in (("prompt_tokens", "prompt"), ("completion_tokens", "generated"))
        if isinstance(given.get(key), int | float) and 0 <= given[key] < MOST_TOKENS
    ]
    return f"tokens: {', '.join(counts)}" if counts else None


def batch(ran: Any) -> str | None:
    """The batch in which an attempt ran, and its first jobs; None if it ran alone."""
    if not isinstance(ran, dict) or not isinstance(ran.get("jobs"), list):
        return None
    jobs = ", ".join(map(str, ran["jobs"]))
    return f"in a batch of {ran['size']}: jobs {jobs}{', …' * (ran['size'] > len(ran['jobs']))}"


def bar(fraction: float, width: int = BAR) -> Text:
    """A progress bar with its percentage."""
    full = round(max(0.0, min(1.0, fraction)) * width)
    return Text.assemble(
        ("━" * full, "yellow"), ("─" * (width - full), "bright_black"), f" {fraction:4.0%}"
    )


def moment(when: datetime) -> str:
    """A time in the local zone, without the date if it is today."""
    if isinstance(when, FarTime):
        return FOREVER.get(when.text, when.text)
    try:
        there = when.astimezone()
    except OverflowError:  # a few hours from the first or last time of Python
        there = when
    today = there.date() == datetime.now().astimezone().date()
    return there.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M")


def zoned(when: datetime) -> str:
    """A time in the local zone, with the zone, for what stands beside other zones."""
    return moment(when) if isinstance(when, FarTime) else f"{moment(when)} {when.astimezone():%Z}"


def seconds(value: Any) -> float:
    """A length of time in seconds, from a timedelta or a number."""
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def tries(attempt: int, released: int) -> str | int | None:
    """How often a job ran. A release is no try: the job was released before or while it ran."""
    return f"{attempt - released} (released {released})" if released else attempt or None


def gist(error: str) -> str:
    """The most telling line of an error: the last of a traceback, else the first."""
    lines = error.strip().splitlines() or [""]
    return visible(lines[-1] if lines[0].startswith("Traceback") else lines[0])


def cut(text: str, longest: int) -> str:
    """The text, or its start and how much is left out, so that one value cannot hide the rest."""
    rest = len(text) - longest
    return f"{text[:longest]}… and {rest} more characters" if rest > 0 else text


def brief(value: Any) -> str:
    """Any value on one line, without texts that may be secret."""
    if isinstance(value, str):
        return visible(" ".join(value.split()))
    if isinstance(value, timedelta):
        return spell(value)
    if isinstance(value, dict) and "id" in value and "label" in value:
        value = masking.masked(value)
        rest = {key: item for key, item in value.items() if key not in {"id", "label"}}
        rest = dict(sorted(rest.items(), key=lambda pair: isinstance(pair[1], list | dict)))
        return "  ".join([brief(value["label"]), *(f"{key} {brief(rest[key])}" for key in rest)])
    return visible(json.dumps(masking.masked(value), ensure_ascii=False, default=str))


def changed(detail: Row) -> list[str]:
    """The changes of an event in words, then the rest of its detail: `slots 4, was 2`, `paused`,
    `reason new disk`, `no reason, was new disk`, `after 12 s`. The new value comes first, because a
    narrow terminal cuts the end."""
    old, new = detail.get("old") or {}, detail.get("new") or {}
    rest = {key: value for key, value in detail.items() if key not in {"old", "new"}}
    said = [_change(key.replace("_", " "), old.get(key), new.get(key)) for key in {**old, **new}]
    said += [
        f"after {duration(value)}"
        if key == "seconds" and isinstance(value, int | float)
        else _change(key.replace("_", " "), None, value)
        for key, value in rest.items()
    ]
    return list(dict.fromkeys(said))


def _change(name: str, before: Any, after: Any) -> str:
    if isinstance(after, bool):
        return name if after else f"not {name}"
    text = f"no {name}" if after is None else f"{name} {brief(after)}"
    return text if before is None else f"{text}, was {brief(before)}"


def counted(count: int, what: str) -> str:
    """A number of things: `1 job`, `2,000 jobs`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"

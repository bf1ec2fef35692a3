"""Words of a form about a value and the rules of its schema, and those rules for the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeGuard

from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import brief, cut
from qwf_agent.web.forms import exact_json

LONGEST_LABEL, LONGEST_HELP = 200, 1000
STRANGE_NAME = re.compile(r"[\].:\"\[\\\s\x00-\x1f\x7f-\x9f]")
# The part of the regular expressions that Postgres and browsers read in the same way.
ATOM = r"(?:[A-Za-z0-9_ ]|\\\.|\[\^?(?:[A-Za-z0-9_ ](?:-[A-Za-z0-9])?)+\])"
COMMON_PATTERN = re.compile(rf"(\^?)((?:{ATOM}(?:[+*?]|\{{[0-9]{{1,3}}\}})?)*)(\$?)")

FALLBACK = "\0fallback"  # key of a schema: what a field is if nothing is entered; no JSON has it


def member_path(path: str, key: str) -> str:
    """The path of a member of an object, as the database writes it."""
    strange = not key or STRANGE_NAME.search(key)
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]" if strange else f"{path}.{key}"


def visible_text(text: str, longest: int = LONGEST_LABEL) -> str:
    """A text as a page shows it, cut."""
    return visible(cut(text, longest))


def word(value: Any, longest: int = LONGEST_LABEL) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, str):
        return visible_text(" ".join(value.split()), longest) or "(empty)"
    return visible_text(exact_json.write(value), longest)


def title_of(schema: Any, name: str) -> str:
    """The title of a field: that of its schema, else its name."""
    title = schema.get("title") if isinstance(schema, Mapping) else None
    return visible_text(title) if is_text(title) else visible_text(name)


def help_of(schema: Mapping[str, Any]) -> str:
    """The description and the examples of a schema."""
    text = schema.get("description")
    examples = schema.get("examples")
    shown = ", ".join(brief(one) for one in examples[:3]) if is_list(examples) else ""
    return joined(
        _sentence(visible_text(text, LONGEST_HELP)) if is_text(text) else "",
        f"For example: {visible_text(shown)}" if shown else "",
    )


def _sentence(text: str) -> str:
    """The text with a full stop: other sentences may follow it."""
    return text if text.rstrip()[-1:] in (*".!?:;", "") else f"{text.rstrip()}."


def joined(*parts: str) -> str:
    """Sentences, one after the other."""
    return " ".join(part for part in parts if part)


def text_rules(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of a text: those of the schema of a question, and of its own keys."""
    schema = spec.get("schema")
    rules = dict(schema) if isinstance(schema, Mapping) else {}
    for key, long in (("min_length", "minLength"), ("max_length", "maxLength")):
        rules[long] = spec.get(key, rules.get(long))
    return rules | ({"pattern": spec["pattern"]} if "pattern" in spec else {})


def length(value: Any) -> int | None:
    """A rule for a length; None for what is no whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def length_words(least: int | None, most: int | None) -> str:
    """The rule in words."""
    if least and most is not None:
        return f"{least} to {most} characters."
    if least:
        return f"At least {least} character{'s' * (least > 1)}."
    return f"At most {most} characters." if most is not None else ""


def bound_words(least: str | None, most: str | None) -> str:
    """The rule in words."""
    if least and most:
        return f"From {least} to {most}."
    return f"At least {least}." if least else f"At most {most}." if most else ""


def pattern_words(pattern: Any) -> str:
    """The rule in words."""
    return f"It matches {visible_text(pattern)}" if is_text(pattern) else ""


def common_pattern(pattern: Any) -> str | None:
    """The pattern for a browser, which matches whole texts; None if it could read it otherwise."""
    found = COMMON_PATTERN.fullmatch(pattern) if isinstance(pattern, str) else None
    if found is None:
        return None
    start, middle, end = found.groups()
    return f"{'' if start else '.*'}{middle}{'' if end else '.*'}"


def number_text(value: Any) -> str | None:
    """A number with all its digits; None for what is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        return exact_json.write(value)
    except ValueError:  # infinite
        return None


def is_text(value: Any) -> TypeGuard[str]:
    """True for a text that is not empty."""
    return isinstance(value, str) and value != ""


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """True for a list."""
    return isinstance(value, list)

"""Buttons that call a function of schema qwf.

A list has a hundred of them, so they are written here and not by a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from psycopg import sql

from qwf_agent.look import masking
from qwf_agent.web.site import actions
from qwf_agent.web.site.templating import exact
from qwf_agent.web.site.templating import shown as _text

# Buttons that say what they do it to.
_OF_SOMETHING = frozenset(
    {"Cancel", "Change", "Retry", "Pause", "Drop", "Drain", "Off", "Switch off"}
)


@pass_context
def act(
    context: Context, action: str, label: str, confirm: str, kind: str, key: str,
    given: Mapping[str, Any], fields: Markup | None,
) -> Markup:  # fmt: skip
    """A button, or a sheet that opens if something has to be confirmed or filled in."""
    statement = statement_of(action, given)
    if statement not in context["called"]:
        context["called"].append(statement)
    shown, where = _text(statement), _text(context["url"]("/do/" + action))
    said, label, kind = _text(deed(action, label, given)), _text(label), _text(kind)
    form = (
        f'method="post" action="{where}" hx-post="{where}" hx-target="#notices" '
        f'hx-swap="beforeend">\n{hidden(context, given)}'
    )
    keyed = f' data-key="{_text(key)}"' if key else ""
    if not confirm and fields is None:
        return Markup(  # noqa: S704 - every value is escaped
            f'<form class="act" {form}<button class="{kind}" title="{shown}"{keyed}>{label}'
            "</button>\n</form>"
        )
    name = _id(action, given)
    heading = f"<p><strong>{said}</strong></p>" if said != label else ""
    text = f"<p>{_text(confirm)}</p>" if confirm else ""
    keep = "Keep it" if kind == "danger" else "Close"
    return Markup(  # noqa: S704
        f'<details class="confirm" id="act-{name}">'
        f'<summary class="button {kind}"{keyed}>{label}…</summary>\n'
        f'<form class="sheet" tabindex="-1" aria-label="{said}" {form}{heading}{text}'
        f'{fields or ""}<p class="buttons"><button class="{kind or "primary"}">{said}</button> '
        f'<button type="button" data-keep>{keep}</button></p>\n'
        f'<details class="small muted" id="sql-{name}"><summary>SQL</summary>'
        f'<pre class="code small">{shown}</pre></details>\n</form></details>'
    )


@pass_context
def hidden(context: Context, given: Mapping[str, Any] | None = None) -> Markup:
    """The hidden fields of every form."""
    common = {"csrf": context["csrf"], "back": context["here"]}
    return Markup(  # noqa: S704
        "".join(
            [
                f'<input type="hidden" name="{_text(name)}" value="{exact(value)}">\n'
                for values in (common, given or {})
                for name, value in values.items()
                if value is not None
            ]
        )
    )


def deed(action: str, label: str, given: Mapping[str, Any]) -> str:
    """The deed of a button, with its object: "Cancel job 7"."""
    name = "Switch off" if label == "Off" else label
    if label in _OF_SOMETHING:
        if given.get("job_id"):
            return f"{name} job {given['job_id']}"
        if given.get("run_id"):
            return f"{name} run {given['run_id']}"
        if given.get("host") and given.get("queue"):
            return f"{name} {given['queue']} on {given['host']}"
        if given.get("name"):
            return f"{name} {action.rpartition('_')[2]} {given['name']}"
    elif given.get("model") or given.get("action") == "load":
        return f"{name}: {given['queue']} on {given['host']}"
    return name


def statement_of(action: str, arguments: Mapping[str, Any]) -> str:
    """The statement of a button, to paste into psql; it says so if a secret in it is hidden."""
    types = actions.ACTIONS[action].arguments
    given = ", ".join(
        f"{name} => {_literal(value)}::{types[name]}"
        for name, value in arguments.items()
        if value is not None
    )
    hint = f" -- write the secrets for {masking.MASK}" if masking.MASK in given else ""
    return f"select * from qwf.{action}({given});{hint}"  # noqa: S608 - shown, never sent


def _literal(value: Any) -> str:
    """A value in SQL; those of most buttons without the detour over a composed statement."""
    if type(value) is int and value >= 0:
        return str(value)
    if type(value) is str and value.startswith(("{", "[")):
        value = masking.masked_start(value)
    if type(value) is str and value.isprintable() and "'" not in value and "\\" not in value:
        return f"'{value}'"
    return sql.Literal(value).as_string(None)


def classname(text: str) -> str:
    """A text as part of an id or class: letters and digits of ASCII stay."""
    return "".join(c if (c.isascii() and c.isalnum()) or c == "_" else "-" for c in str(text))


def _id(action: str, given: Mapping[str, Any]) -> str:
    return f"{action}-{classname('-'.join(map(str, given.values())))}"

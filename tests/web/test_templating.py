"""Values in templates: escaped, visible, and read from rows."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from jinja2 import DictLoader, StrictUndefined, Template, UndefinedError
from markupsafe import Markup, escape

from qwf_agent.look.draw.visible import visible
from qwf_agent.web.site import render
from qwf_agent.web.site.templating import Templates, finalized, shown


def write(template: str, **given: Any) -> str:
    """The text of a template, with the settings of the page."""
    return compiled(template).render(given)


@functools.cache
def compiled(template: str) -> Template:
    """The template, with the settings of the page."""
    templates = Templates(
        loader=DictLoader({"t": template, "m": "{% macro b(x) %}<b>{{ x }}</b>{% endmacro %}"}),
        autoescape=True, undefined=StrictUndefined, finalize=finalized,
    )  # fmt: skip
    return templates.get_template("t")


@pytest.mark.parametrize("one", [chr(code) for code in (*range(0x100), 0x202E, 0x3164, 0x1F600)])
def test_a_text_is_shown_visible_and_escaped(one: str) -> None:
    for text in (one, f"a{one}", f"{one}b"):
        assert write("{{ x }}", x=text) == shown(text) == str(escape(visible(text)))
        assert write("{{ x ~ 1 }}", x=text) == str(escape(visible(text + "1")))
        assert write("{% import 'm' as m %}{{ m.b(x) }}", x=text) == f"<b>{shown(text)}</b>"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (7, "7"), (True, "True"), (1.5, "1.5"), (Markup("<i>"), "<i>"),
     (["<"], "[&#39;&lt;&#39;]")],
)  # fmt: skip
def test_other_values_are_shown_as_jinja_shows_them(value: object, text: str) -> None:
    assert write("{{ x }}", x=value) == text


def test_a_row_is_asked_for_its_columns_and_has_the_methods_of_a_dict() -> None:
    row = {"id": 3, "keys": "shown", "note": "<n>"}
    assert write("{{ r.id }} {{ r.note }} {{ r.keys() | list | count }}", r=row) == "3 &lt;n&gt; 3"
    with pytest.raises(UndefinedError):
        write("{{ r.other }}", r=row)
    with pytest.raises(UndefinedError):
        write("{{ missing }}")


def test_what_templates_print_goes_through_the_fast_function() -> None:
    """Jinja calls what Templates replaces. If a new version does not, pages are slow."""
    source = render._ENVIRONMENT.compile("{{ x }}{{ a ~ b }}", raw=True)
    assert "environment.shown(" in source
    assert "environment.joined((" in source
    assert "finalize" not in source

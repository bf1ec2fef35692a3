"""Forms: what a person sees, and which value is sent, for each kind of question and schema.

The forms are drawn, read as a browser reads them, and parsed again: what is shown is what is sent.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jinja2
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from qwf_agent.web.forms import exact_json, fields, filled
from qwf_agent.web.forms.choices import File
from qwf_agent.web.forms.fields import Field, from_question, from_schema
from qwf_agent.web.forms.filled import entries, parse, refused
from qwf_agent.web.site import templating
from support.thorough import THOROUGH

ROOM = Path(fields.__file__).parents[1]
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(ROOM / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
)
TEMPLATES.filters["exact"] = templating.exact
VOID = {"input", "img"}
CONTROLS = {"input", "textarea", "select", "button"}
HOSTILE = (
    "</textarea></title><script>pwned=1</script>'\"><img src=x onerror=pwned=1> x{{7*7}}x \u202e"
)
Sent = dict[str, list[str]]


def drawn(field: Field) -> str:
    """The HTML of a whole form."""
    macros: Any = TEMPLATES.get_template("_form.html").module
    return f"{macros.summary(field)}{macros.body(field)}{macros.buttons(field, 'Answer')}"


class Page(HTMLParser):
    """A form as a browser reads it: its elements, its texts, and what it would send."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.items: list[tuple[str, str]] = []
        self.templates = 0
        self._area: str | None = None
        self._select: tuple[str, list[tuple[str, bool, bool]]] | None = None
        self._skip = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        if tag == "template":
            self.templates += 1
        if self.templates:
            return
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "input":
            chosen = given.get("type") not in ("radio", "checkbox") or "checked" in given
            if chosen:
                self.items.append((name, value))
        elif tag == "textarea":
            self._area, self._text = name, ""
        elif tag == "select":
            self._select = (name, [])
        elif tag == "option" and self._select:
            self._select[1].append((value, "selected" in given, "disabled" in given))

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self.templates -= 1
        if self.templates:
            return
        if tag == "textarea" and self._area is not None:
            text = self._text.removeprefix("\n")  # a browser drops the first line end
            self.items.append((self._area, text.replace("\n", "\r\n")))
            self._area = None
        elif tag == "select" and self._select:
            name, options = self._select
            chosen = [one for one in options if one[1]] or [one for one in options if not one[2]][
                :1
            ]
            self.items += [(name, value) for value, _, disabled in chosen if not disabled]
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._area is not None and not self.templates:
            self._text += data
        self.texts.append(data)

    def sent(self) -> Sent:
        """Fields that the server reads if nobody changes anything."""
        return entries(self.items)


def sent_by(field: Field) -> Sent:
    return Page(drawn(field)).sent()


def value_of(field: Field, given_: Mapping[str, list[str]]) -> Any:
    """The value of a form that has no problem."""
    filled = parse(field, given_)
    assert filled.problems == ()
    return filled.value


def texts_of(field: Field, given_: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    return [(problem.path, problem.text) for problem in parse(field, given_).problems]


def key(field: Field, label: str) -> str:
    """Value that the form sends for the option with a label."""
    [found] = [option.key for option in field.options if option.label == label]
    return found


# Widgets ----------------------------------------------------------------------------------------

CANDIDATES = [
    {"id": "1", "label": "car", "score": 0.93, "box": [1, 2, 3, 4], "near": True},
    {"id": "2", "label": "tree", "picture": "s/n/tree.png", "help": "behind the car"},
    "nothing of these",
    7,
    None,
]
CHOICE = {"widget": "choose_one", "source": CANDIDATES}


@pytest.mark.parametrize("widget", ["choose_one", "turnout", "a_widget_of_a_front_end"])
def test_each_option_is_a_card_and_is_answered_whole(widget: str) -> None:
    field = from_question({"widget": widget, "options": CANDIDATES})
    assert (field.kind, field.cards, len(field.options)) == ("choice", True, 5)
    for option, value in zip(field.options, CANDIDATES, strict=True):
        assert value_of(field, {"value": [option.key]}) == value


def test_a_card_shows_its_picture_label_help_score_and_facts() -> None:
    shown = File("/out/7/s/n/tree.png", "s/n/tree.png", "/files/3/1")
    field = from_question(CHOICE, [shown])
    car, tree = field.options[:2]
    assert (car.label, car.score, car.facts, car.picture) == (
        "car",
        "0.93",
        (("near", "Yes"),),
        None,
    )
    assert (tree.picture, tree.help) == ("/files/3/1", "behind the car")
    page = Page(drawn(field))
    images = [given_ for tag, given_ in page.elements if tag == "img"]
    assert images == [{"src": "/files/3/1", "alt": "", "loading": "lazy"}]
    assert "score 0.93" in page.texts


@pytest.mark.parametrize(
    "picture",
    ["/out/7/s/n/tree.png", "s/n/tree.png", {"rel_path": "s/n/tree.png", "host": "box-b"}],
)
def test_a_picture_is_named_by_its_path_or_its_entry(picture: Any) -> None:
    shown = File("/out/7/s/n/tree.png", "s/n/tree.png", "/files/3/1")
    spec = {"widget": "choose_one", "options": [{"id": 1, "picture": picture}]}
    assert from_question(spec, [shown]).options[0].picture == "/files/3/1"


def test_a_picture_is_only_shown_if_it_is_a_listed_file() -> None:
    spec = {"widget": "choose_one", "options": [{"id": 1, "picture": "https://evil/x.png"}]}
    assert from_question(spec).options[0].picture is None
    assert "evil" not in drawn(from_question(spec))


def test_the_first_nine_cards_have_number_keys() -> None:
    page = Page(drawn(from_question({"widget": "choose_one", "options": list(range(12))})))
    keys = [given_.get("data-number-key") for tag, given_ in page.elements if tag == "input"]
    assert keys == [*map(str, range(1, 10)), None, None, None]


def test_no_card_is_chosen_at_first() -> None:
    field = from_question({**CHOICE, "default": "2", "expires": "1 day"})
    assert field.help == "If nobody answers in time: tree"
    assert sent_by(field) == {}
    assert texts_of(field, {}) == [("value", "choose one")]


def test_an_option_of_another_question_is_no_answer() -> None:
    """The page was open while the job failed again and asked again."""
    before = from_question({"widget": "choose_one", "options": ["a", "b"]})
    now = from_question({"widget": "choose_one", "options": ["b", "c"]})
    assert value_of(now, {"value": [key(before, "b")]}) == "b"
    [problem] = texts_of(now, {"value": [key(before, "a")]})
    assert problem == ("value", "is no longer one of the options: choose again")


@pytest.mark.parametrize("sent", [["x"], ["", "x"], ["<script>"]])
def test_a_made_up_option_is_no_answer(sent: list[str]) -> None:
    assert texts_of(from_question(CHOICE), {"value": sent})


def test_two_chosen_options_are_no_answer() -> None:
    field = from_question({"widget": "choose_one", "options": ["a", "b"]})
    sent = {"value": [key(field, "a"), key(field, "b")]}
    assert texts_of(field, sent) == [("value", "is chosen twice: choose one")]


def test_several_options_are_check_boxes() -> None:
    field = from_question({**CHOICE, "multiple": True, "default": ["nothing of these"]})
    assert field.kind == "choices"
    page = Page(drawn(field))
    assert {g["type"] for tag, g in page.elements if tag == "input"} == {"checkbox"}
    assert value_of(field, page.sent()) == ["nothing of these"]
    both = {"value": [key(field, "7"), key(field, "car")]}
    assert value_of(field, both) == [7, CANDIDATES[0]]
    assert value_of(field, {}) == []


@pytest.mark.parametrize("source", [None, [], "text", {"a": 1}])
def test_a_question_without_options_takes_null(source: Any) -> None:
    field = from_question({"widget": "choose_one", "source": source})
    assert value_of(field, {"value": [field.options[0].key]}) is None
    assert "There is nothing to choose from" in drawn(field)


def test_equal_options_are_shown_once() -> None:
    field = from_question({"widget": "choose_one", "options": ["a", "a", 1, True, "1"]})
    assert [option.value for option in field.options] == ["a", 1, True, "1"]


@pytest.mark.parametrize("options", [["retry", "skip", "abort"], ["skip", "abort"]])
def test_a_failure_asks_what_to_do(options: list[str]) -> None:
    field = from_question({"widget": "on_failure", "options": options, "error": HOSTILE})
    words = {"retry": "Retry", "skip": "Skip", "abort": "Abort"}
    assert [one.label for one in field.options] == [words[one] for one in options]
    assert all(one.help for one in field.options)
    for option, word in zip(field.options, options, strict=True):
        assert value_of(field, {"value": [option.key]}) == word


def test_confirm_is_two_buttons() -> None:
    field = from_question({"widget": "confirm"})
    page = Page(drawn(field))
    buttons = [given_ for tag, given_ in page.elements if tag == "button"]
    assert [one["name"] for one in buttons] == ["value", "value"]
    answers = [value_of(field, {"value": [str(one["value"])]}) for one in buttons]
    assert answers == [True, False]
    assert texts_of(field, {}) == [("value", "choose one")]


@pytest.mark.parametrize("text", ["a", "", " a ", "ä😀", "1", "null", "<b>"])
def test_a_text_is_sent_as_it_is(text: str) -> None:
    field = from_question({"widget": "text"})
    assert value_of(field, {"value": [text]}) == text


def test_the_lines_of_a_text_end_in_one_character() -> None:
    field = from_question({"widget": "text", "multiline": True})
    assert "<textarea" in drawn(field)
    assert value_of(field, entries([("value", "a\r\nb")])) == "a\nb"


def test_the_rules_of_a_text_are_shown() -> None:
    spec = {"widget": "text", "min_length": 2, "max_length": 9, "pattern": "^[a-z]+$"}
    field = from_question(spec)
    assert field.help == "2 to 9 characters. It matches ^[a-z]+$"
    [control] = [g for tag, g in Page(drawn(field)).elements if tag == "input"]
    assert control["pattern"] == "[a-z]+"
    assert "required" in control
    assert "maxlength" not in control  # it would cut what is pasted


@pytest.mark.parametrize(
    ("pattern", "browser"),
    [("a", ".*a.*"), ("^a", "a.*"), ("^[A-Z]{3}[0-9]*$", "[A-Z]{3}[0-9]*"), (r"\.png$", r".*\.png"),
     (r"\mword", None), ("a|b", None), ("[[:alpha:]]", None), ("(?i)a", None), ("[a&&b]", None),
     ("a++", None), ("^*", None), (r"\d", None), (5, None)],
)  # fmt: skip
def test_a_browser_gets_only_patterns_that_mean_the_same_there(
    pattern: Any, browser: str | None
) -> None:
    assert from_question({"widget": "text", "pattern": pattern}).pattern == browser


NUMBERS = {
    "7": 7, "-7": -7, " 7 ": 7, "007": 7, "9007199254740993": 2**53 + 1, "0.10": Decimal("0.10"),
    "1e3": Decimal(1000), "-0.5": Decimal("-0.5"), "1E-7": Decimal("1e-7"),
    "0.1000000000000000055511151231257827": Decimal("0.1000000000000000055511151231257827"),
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_keeps_its_digits(text: str) -> None:
    value = value_of(from_question({"widget": "number"}), {"value": [text]})
    assert value == NUMBERS[text]
    assert type(value) is type(NUMBERS[text])
    assert Decimal(exact_json.write(value)) == Decimal(text.strip())


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "is missing"), ("x", "is not a number"), ("1,5", "is not a number: write a point, not a"),
     ("1 000", "is not a number"), ("NaN", "is not a number"), ("Infinity", "is not a number"),
     ("0x10", "is not a number"), ("\uff11", "is not a number"), ("1_0", "is not a number"),
     ("1e9999999", "is too large or small"), ("9" * 5000, "is too long"),
     ("--1", "is not a number")],
)  # fmt: skip
def test_what_is_no_number_is_said_and_shown_again(text: str, why: str) -> None:
    filled = parse(from_question({"widget": "number"}), {"value": [text]})
    [problem] = filled.problems
    assert why in problem.text
    assert filled.field.entered == text


def test_the_rules_of_a_number_are_shown() -> None:
    spec = {"widget": "number", "min": 1, "max": Decimal("2.50"), "step": 0.5, "unit": "mm"}
    page = Page(drawn(from_question(spec)))
    [control] = [given_ for tag, given_ in page.elements if tag == "input"]
    assert (control["min"], control["max"], control["step"]) == ("1", "2.50", "0.5")
    assert {"mm", "From 1 to 2.50."} <= set(page.texts)
    assert control["aria-describedby"] == "f-value-help f-value-unit"
    whole = from_question({"widget": "number", "integer": True})
    assert (whole.step, whole.integer) == ("1", True)


FILES = [
    File("/out/a.png", "s/a.png", "/files/3/1"), File("/out/b.csv", "s/b.csv"),
    File("/out/c.GLB", "s/c.GLB"),
]  # fmt: skip


def test_a_file_is_picked_or_written() -> None:
    field = from_question({"widget": "file"}, FILES)
    assert [option.label for option in field.options] == ["s/a.png", "s/b.csv", "s/c.GLB"]
    assert value_of(field, {"value": ["/out/b.csv"]}) == "/out/b.csv"
    assert value_of(field, {"value": [], "value/*other": [" /tmp/x "]}) == "/tmp/x"
    assert texts_of(field, {}) == [("value", "is missing")]
    both = {"value": ["/out/b.csv"], "value/*other": ["/tmp/x"]}
    assert "pick one, or write one other path" in texts_of(field, both)[0][1]


def test_several_files_are_picked_and_written() -> None:
    field = from_question(
        {"widget": "file", "multiple": True, "default": ["/out/a.png", "/x"]}, FILES
    )
    assert value_of(field, sent_by(field)) == ["/out/a.png", "/x"]
    sent = {"value": ["/out/a.png", "/out/b.csv"], "value/*other": ["/y\n\n/z"]}
    assert value_of(field, sent) == ["/out/a.png", "/out/b.csv", "/y", "/z"]
    assert value_of(field, {}) == []


@pytest.mark.parametrize(
    ("accept", "count"),
    [(None, 3), ("image/*", 1), (".glb,.csv", 2), ([".glb"], 1), ("video/*", 3), ("", 3), (5, 3)],
)
def test_a_question_for_a_file_offers_what_it_accepts(accept: Any, count: int) -> None:
    assert len(from_question({"widget": "file", "accept": accept}, FILES).options) == count


def test_a_library_is_offered_as_well() -> None:
    field = from_question({"widget": "file", "library": ["/lib/x.png", 5]}, FILES)
    assert [option.value for option in field.options][:2] == ["/lib/x.png", "/out/a.png"]


@pytest.mark.parametrize("spec", [{"widget": "json"}, {"widget": "of a front end"}, {}])
def test_what_has_no_form_is_written_as_json(spec: dict[str, Any]) -> None:
    field = from_question({**spec, "default": {"a": [1, Decimal("0.10")]}})
    assert field.kind == "json"
    assert field.entered == '{\n  "a": [\n    1,\n    0.10\n  ]\n}'
    assert value_of(field, sent_by(field)) == {"a": [1, Decimal("0.10")]}
    assert value_of(field, {"value": [" null "]}) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "is missing"), ("plain", "it is not JSON: Expecting value at line 1, column 1"),
     ("[1,]", "it is not JSON"), ('{"a": 1, "a": 2}', "stands twice"), ("NaN", "not a JSON value"),
     ("[" * 5000, "nested too deep"), ("[" * 600 + "]" * 600, "nested too deep"),
     ('"\\u0000"', "a NUL"), ('"\\ud800"', "surrogate"), ('{"\\u0000": 1}', "a NUL"),
     ("1e99999", "too large"), ("9" * 5000, "too long"), ("\0", "cannot be stored")],
)  # fmt: skip
def test_what_is_no_json_is_said_and_shown_again(text: str, why: str) -> None:
    filled = parse(from_question({"widget": "json"}), {"value": [text]})
    [problem] = filled.problems
    assert why in problem.text
    assert filled.field.entered == text


# Schemas ----------------------------------------------------------------------------------------

INPUTS: dict[str, Any] = {
    "type": "object",
    "required": ["photo", "count"],
    "properties": {
        "photo": {"type": "string", "title": "The photo", "description": "A path.", "minLength": 1},
        "count": {"type": "integer", "minimum": 1, "default": 3},
        "size": {"enum": ["small", "large", None]},
        "fast": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "crop": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0}},
        },
        "extra": {"type": ["string", "number"]},
        "any": {},
    },
}


def test_a_schema_is_a_group_of_fields() -> None:
    field = from_schema(INPUTS)
    kinds = {one.path: one.kind for one in field.fields}
    assert kinds == {
        "context.photo": "text", "context.count": "number", "context.size": "choice",
        "context.fast": "choice", "context.note": "text", "context.tags": "list",
        "context.crop": "group", "context.extra": "json", "context.any": "json",
    }  # fmt: skip
    assert (field.fields[0].label, field.fields[0].help) == (
        "The photo",
        "A path. At least 1 character.",
    )


def test_what_nobody_entered_is_left_out() -> None:
    field = from_schema(INPUTS)
    sent = sent_by(field)
    assert texts_of(field, sent) == []
    assert value_of(field, sent) == {"photo": "", "count": 3}


def test_what_was_entered_is_in_the_value() -> None:
    field = from_schema(INPUTS)
    size, fast = field.fields[2], field.fields[3]
    sent = {
        "context/photo": ["a.jpg"], "context/count": ["9007199254740993"],
        "context/size": [key(size, "null")], "context/fast": [key(fast, "No")],
        "context/note": ["x"], "context/tags/*": ["0", "4", "2"], "context/tags/0": ["a"],
        "context/tags/4": [""], "context/tags/2": ["c"], "context/crop/x": ["0.10"],
        "context/crop/y": ["0"], "context/extra": ['"b"'], "context/any": ["[1]"],
    }  # fmt: skip
    assert value_of(field, sent) == {
        "photo": "a.jpg", "count": 2**53 + 1, "size": None, "fast": False, "note": "x",
        "tags": ["a", "", "c"], "crop": {"x": Decimal("0.10"), "y": 0}, "extra": "b", "any": [1],
    }  # fmt: skip


def test_an_optional_group_that_was_begun_says_what_is_missing() -> None:
    field = from_schema(INPUTS)
    sent = {**sent_by(field), "context/crop/y": ["5"]}
    assert texts_of(field, sent) == [("context.crop.x", "is missing")]


def test_null_is_an_empty_entry_where_null_is_allowed() -> None:
    schema = {"type": "object", "required": ["a", "b", "c"], "properties": {
        "a": {"type": ["string", "null"]}, "b": {"type": ["null", "integer"]},
        "c": {"type": ["boolean", "null"]}}}  # fmt: skip
    field = from_schema(schema)
    choice = field.fields[2]
    assert [option.label for option in choice.options] == ["Yes", "No", "null"]
    sent = {"context/a": [""], "context/b": [" "], "context/c": [key(choice, "null")]}
    assert value_of(field, sent) == {"a": None, "b": None, "c": None}


def test_a_text_that_was_emptied_is_sent_empty() -> None:
    field = from_schema({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}})
    assert value_of(field, {"context/a": [""]}) == {"a": ""}


def test_many_choices_are_a_select_that_chooses_none_by_itself() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {
        "a": {"enum": [1, 2, 3, 4, 5]}, "b": {"enum": [1, 2, 3, 4, 5]}}}  # fmt: skip
    field = from_schema(schema)
    sent = sent_by(field)
    assert sent == {"context/b": [""]}
    assert texts_of(field, sent) == [("context.a", "choose one")]
    sent["context/a"] = [key(field.fields[0], "2")]
    assert value_of(field, sent) == {"a": 2}


def test_other_members_are_written_as_json() -> None:
    schema = {**INPUTS, "additionalProperties": True}
    field = from_schema(schema, {"photo": "a", "more": [1]})
    sent = sent_by(field)
    assert value_of(field, sent)["more"] == [1]
    sent["context/*rest"] = ['{"photo": "b"}']
    assert texts_of(field, sent) == [("context.*", "'photo' has its own field")]
    sent["context/*rest"] = ["[]"]
    assert texts_of(field, sent) == [("context.*", "must be a JSON object")]


NAMES = ["a/b", "a.b", "a b", "", "*", "/*", "*rest", "a[0]", "ä", "a\nb", "'\"<", "%2F",
         "__proto__", "a\u202e", "name", "*add", "#"]  # fmt: skip


def test_no_name_of_a_property_is_mistaken_for_another() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema = {"type": "object", "properties": dict.fromkeys(NAMES, inner)}
    value = {name: {"b": str(number)} for number, name in enumerate(NAMES)}
    field = from_schema(schema, value)
    sent = sent_by(field)
    assert all(name.isascii() and " " not in name and "\n" not in name for name in sent)
    assert value_of(field, sent) == value
    ids = [g["id"] for _, g in Page(drawn(field)).elements if g.get("id")]
    assert len(ids) == len(set(ids))


def test_a_control_that_nothing_reads_is_said() -> None:
    """The page is older than the definition of the workflow."""
    field = from_schema(INPUTS)
    sent = {**sent_by(field), "context/gone": ["typed for an hour"], "csrf": ["x"]}
    [problem] = texts_of(field, sent)
    assert problem == (
        "context", "the form has changed since it was opened: nothing reads context/gone"
    )  # fmt: skip


@pytest.mark.parametrize(
    "schema",
    [{"type": "object"}, {"type": "array"}, {}, {"type": ["object", "array"], "properties": {}},
     {"type": ["array", "null"], "items": {}}, {"type": "null"}, {"type": []}, {"type": 5},
     {"properties": {"a": {}}}, {"type": "object", "properties": {}}],
)  # fmt: skip
def test_a_value_without_a_form_is_written_as_json(schema: dict[str, Any]) -> None:
    field = from_schema(schema, [1, {"a": None}])
    assert field.kind == "json"
    assert value_of(field, sent_by(field)) == [1, {"a": None}]


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"type": "string"}, 5), ({"type": "string"}, "a\u202eb"), ({"type": "string"}, "a\rb"),
     ({"type": ["string", "null"]}, ""), ({"type": "number"}, "5"), ({"type": "number"}, True),
     ({"enum": [1]}, 2), (INPUTS, [1]), (INPUTS, {"unknown": 1}),
     ({"type": "array", "items": {"type": "string"}}, "x"),
     ({"type": "array", "items": {"type": "string"}}, ["a", 1]),
     ({"type": "array", "items": {}}, list(range(300)))],
)  # fmt: skip
def test_a_value_that_its_field_cannot_show_is_written_as_json(schema: Any, value: Any) -> None:
    field = from_schema(schema, value)
    assert field.kind == "json"
    assert value_of(field, sent_by(field)) == value


def test_a_schema_with_too_many_parts_is_written_as_json() -> None:
    wide = {"type": "object", "properties": {str(n): {"type": "string"} for n in range(3000)}}
    assert from_schema(wide).kind == "json"
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    assert '"context/a/a' in drawn(from_schema(deep))
    many = {"type": "array", "items": {"type": "object", "properties": {"a": {}}}}
    assert from_schema(many, [{"a": [1] * 100}] * 100).kind == "json"


def test_characters_that_cannot_be_seen_are_escapes_in_json() -> None:
    text = from_schema({}, {"\u202ea": "\u200b\x1b\U000e0041\n\r"}).entered
    assert text == '{\n  "\\u202ea": "\\u200b\\u001b\\udb40\\udc41\\n\\r"\n}'
    assert value_of(from_schema({}), {"context": [text]}) == {"\u202ea": "\u200b\x1b\U000e0041\n\r"}


# Lists ------------------------------------------------------------------------------------------

BOX = {
    "label": {"type": "string"},
    "at": {"type": "array", "items": {"type": "integer"}},
}
BOXES = {"type": "array", "items": {"type": "object", "required": ["label"], "properties": BOX}}


def test_elements_are_added_and_removed_without_javascript() -> None:
    field = from_schema(BOXES, [{"label": "a"}, {"label": "b", "at": [1, 2]}])
    sent = sent_by(field)
    longer = filled.edited(field, {**sent, "*add": ["context/1/at"]})
    assert longer is not None
    assert [one.entered for one in longer.elements[1].fields[1].elements] == ["1", "2", ""]
    again = {**sent_by(longer), "context/1/at/2": ["3"]}
    assert value_of(field, again) == [{"label": "a"}, {"label": "b", "at": [1, 2, 3]}]
    shorter = filled.edited(field, {**again, "*remove": ["context/0"]})
    assert shorter is not None
    assert value_of(field, sent_by(shorter)) == [{"label": "b", "at": [1, 2, 3]}]
    assert [one.path for one in shorter.elements[0].fields] == ["context[0].label", "context[0].at"]


def test_what_was_typed_survives_an_added_element() -> None:
    field = from_schema({"type": "object", "properties": {
        "a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}}}})  # fmt: skip
    longer = filled.edited(field, {"context/a": ["not yet"], "*add": ["context/b"]})
    assert longer is not None
    assert longer.fields[0].entered == "not yet"
    assert longer.troubled() == []
    assert len(longer.fields[1].elements) == 1


@pytest.mark.parametrize("button", ["*add", "*remove"])
@pytest.mark.parametrize("name", ["", "context", "context/9", "elsewhere", "/", "context/x/y"])
def test_a_made_up_button_changes_nothing(button: str, name: str) -> None:
    field = from_schema({**INPUTS}, {"photo": "x", "count": 1})
    after = filled.edited(field, {**sent_by(field), button: [name]})
    assert after is not None
    assert sent_by(after) == sent_by(field)


def test_a_form_without_such_a_button_is_not_edited() -> None:
    assert filled.edited(from_schema(BOXES), {}) is None


@pytest.mark.parametrize("place", ["x", "-1", "1.5", "", "*0", "9" * 20])
def test_a_damaged_place_is_said(place: str) -> None:
    [problem, *_] = texts_of(from_schema(BOXES), {"context/*": [place]})
    assert problem == ("context", "the form is damaged: load the page again")


def test_problems_name_the_place_in_the_sent_list() -> None:
    sent = {"context/*": ["5", "9"], "context/5/label": ["a"], "context/9/label": ["b"],
            "context/9/at/*": ["3"], "context/9/at/3": ["x"]}  # fmt: skip
    filled = parse(from_schema(BOXES), sent)
    assert [(one.path, one.text) for one in filled.problems] == [
        ("context[1].at[0]", "is not a number")
    ]
    [wrong] = filled.field.troubled()
    assert (wrong.name, wrong.entered) == ("context/1/at/0", "x")


def test_too_many_elements_are_refused_and_not_lost() -> None:
    sent: Sent = {"context/*": list(map(str, range(201)))}
    sent |= {f"context/{place}": ["x"] for place in range(201)}
    filled = parse(from_schema({"type": "array", "items": {"type": "string"}}), sent)
    assert filled.problems[0].text == "has 201 elements, at most 200"
    assert len(filled.field.elements) == 201


# Round trips ------------------------------------------------------------------------------------

PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBER = st.integers(-(10**30), 10**30) | st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def objects(draw: Any, inner: Any) -> tuple[dict[str, Any], Any]:
    members = draw(st.dictionaries(PLAIN, inner, min_size=1, max_size=4))
    present = [name for name in members if draw(st.booleans())]
    required = [name for name in present if draw(st.booleans())]
    schema = {"type": "object", "properties": {name: one[0] for name, one in members.items()},
              "required": required}  # fmt: skip
    return schema, {name: members[name][1] for name in present}


@st.composite
def lists(draw: Any, inner: Any) -> tuple[dict[str, Any], Any]:
    schema, value = draw(inner)
    return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 3))


SCALARS = st.one_of(
    st.tuples(st.just({"type": "string"}), PLAIN),
    st.tuples(st.just({"type": ["string", "null"]}), PLAIN | st.none()),
    st.tuples(st.just({"type": "number"}), NUMBER),
    st.tuples(st.just({"type": ["integer", "null"]}), st.none() | st.integers()),
    st.tuples(st.just({"type": "boolean"}), st.booleans()),
    st.tuples(st.just({"type": ["boolean", "null"]}), st.booleans() | st.none()),
    st.lists(JSON, min_size=1, max_size=7).map(lambda values: ({"enum": values}, values[-1])),
    st.tuples(st.just({}), JSON),
)
ROUNDS = settings(max_examples=200 if THOROUGH else 50)
CASES = st.recursive(SCALARS, lambda inner: objects(inner) | lists(inner), max_leaves=8)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, and 1.0 is not 1.00."""
    return exact_json.write(one) == exact_json.write(other)


def in_order(value: Any) -> Any:
    """The value with the members of its objects in one order: jsonb keeps none."""
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(one) for one in value] if isinstance(value, list) else value


def test_fields_that_must_be_filled_in_come_first_in_the_order_of_required() -> None:
    properties = {"tags": {}, "paper": {}, "title": {}, "copies": {}}  # as jsonb orders them
    schema = {"type": "object", "properties": properties, "required": ["title", "copies"]}
    keys = [field.key for field in from_schema(schema).fields]
    assert keys == ["title", "copies", "tags", "paper"]
    ordered = schema | {"properties_order": ["tags", "copies", "title"]}
    assert [field.key for field in from_schema(ordered).fields] == [
        "tags", "copies", "title", "paper",
    ]  # fmt: skip


def test_a_description_ends_before_the_next_sentence() -> None:
    field = from_schema({"type": "string", "description": "As it is printed", "minLength": 3})
    assert field.help == "As it is printed. At least 3 characters."


@settings(ROUNDS)
@given(CASES)
def test_an_untouched_form_sends_the_value_that_it_shows(case: tuple[Any, Any]) -> None:
    schema, value = case
    field = from_schema(schema, value)
    filled = parse(field, sent_by(field))
    assert filled.problems == ()
    assert same(in_order(filled.value), in_order(value))
    again = parse(field, sent_by(filled.field))
    assert same(again.value, filled.value)


@settings(ROUNDS)
@given(CASES, st.dictionaries(st.sampled_from(["", "/a", "/*", "/0", "/*rest", "/*other"]),
                              st.lists(PLAIN, max_size=3), max_size=4))  # fmt: skip
def test_nothing_that_is_sent_breaks_a_form(case: tuple[Any, Any], more: Sent) -> None:
    schema, value = case
    field = from_schema(schema, value)
    sent = {**sent_by(field), **{f"context{name}": values for name, values in more.items()}}
    read = parse(field, sent)
    exact_json.write(read.value if not read.problems else None)
    assert Page(drawn(read.field)).templates == 0
    drawn(filled.edited(field, {**sent, "*add": ["context"], "*remove": ["context/0"]}) or field)


@given(JSON)
def test_json_keeps_every_digit_and_member(value: Any) -> None:
    assert same(exact_json.read(exact_json.write(value)), value)
    assert same(exact_json.read(exact_json.pretty(value)), value)


# Refusals of the database -----------------------------------------------------------------------


def test_problems_of_the_database_stand_at_their_fields() -> None:
    field = from_schema(BOXES, [{"label": "a"}, {"label": "b", "at": [1]}], name="value")
    detail = (
        "value[1].at[0]: must be at least 5\nvalue[0].label: must match ^b: $\n"
        "value[1].other.x: is missing\nvalue: is wrong\nsomething else"
    )
    marked = refused(field, detail)
    found = {one.path: list(one.problems) for one in marked.troubled()}
    assert found == {
        "value": ["is wrong", "something else"],
        "value[0].label": ["must match ^b: $"],
        "value[1]": ["other.x: is missing"],
        "value[1].at[0]": ["must be at least 5"],
    }
    assert sent_by(marked) == sent_by(field)


def test_what_the_context_lacks_stands_at_its_field() -> None:
    detail = "detect: the context has no crop.x\ndetect: the context has no nowhere"
    marked = refused(from_schema(INPUTS), detail)
    assert [one.path for one in marked.troubled()] == ["context", "context.crop.x"]


@pytest.mark.parametrize("detail", [None, "", "\n\n"])
def test_a_refusal_without_detail_marks_nothing(detail: str | None) -> None:
    assert refused(from_schema(INPUTS), detail).troubled() == []


def test_the_innermost_field_of_a_strange_name_has_the_problem() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": inner, "a.b: c": {}}}
    marked = refused(from_schema(schema), 'context["a.b: c"]: is wrong\ncontext.a.b: is: missing')
    assert {one.path: one.problems for one in marked.troubled()} == {
        "context.a.b": ("is: missing",), 'context["a.b: c"]': ("is wrong",)
    }  # fmt: skip


# What is drawn ----------------------------------------------------------------------------------

EVERYTHING = [
    from_question(CHOICE, FILES), from_question({**CHOICE, "multiple": True}),
    from_question({"widget": "confirm"}), from_question({"widget": "text", "max_length": 3}),
    from_question({"widget": "number", "unit": "mm"}), from_question({"widget": "file"}, FILES),
    from_question({"widget": "file", "multiple": True}, FILES), from_question({"widget": "json"}),
    from_question({"widget": "on_failure", "options": ["retry", "skip", "abort"]}),
    from_schema(INPUTS, {"photo": "a", "tags": ["b"]}),
    from_schema(BOXES, [{"label": "a", "at": [1]}]),
    from_schema({"type": "object", "properties": {"a": {"enum": list(range(9))}}}),
]  # fmt: skip


def wrong(field: Field) -> Field:
    """The form with a problem at every field."""
    return filled.with_problems(
        field,
        [filled.Problem(path, f"{HOSTILE} {path}") for path in sorted(filled._paths(field))],
    )


@pytest.mark.parametrize("field", [*EVERYTHING, *map(wrong, EVERYTHING)])
def test_every_control_has_a_label_and_its_texts(field: Field) -> None:
    page = Page(drawn(field))
    ids = [given_["id"] for _, given_ in page.elements if "id" in given_]
    assert len(ids) == len(set(ids))
    labelled = {given_.get("for") for tag, given_ in page.elements if tag == "label"}
    assert labelled - {None} <= set(ids)
    for tag, given_ in page.elements:
        for target in (given_.get("aria-describedby") or "").split():
            assert target in ids
        if tag in ("textarea", "select") or given_.get("type") in ("text", "number"):
            assert given_["id"] in labelled
        assert not [name for name in given_ if name == "style" or name.startswith("on")]
        assert tag not in ("script", "style", "link", "meta")
    groups = [tag for tag, _ in page.elements if tag in ("fieldset", "legend")]
    assert groups == ["fieldset", "legend"] * (len(groups) // 2)


@pytest.mark.parametrize("field", [from_schema(INPUTS), from_schema(BOXES, [{"label": "a"}])])
def test_enter_in_a_text_presses_no_button_of_a_list(field: Field) -> None:
    """A browser presses the first button of the form."""
    buttons = [given_ for tag, given_ in Page(drawn(field)).elements if tag == "button"]
    assert "name" not in buttons[0]


def test_problems_are_listed_first_and_lead_to_their_fields() -> None:
    field = refused(from_schema(INPUTS), "context.photo: is too short")
    html = drawn(field)
    assert html.index('role="alert"') < html.index("form-body")
    assert 'href="#f-context/photo"' in html
    [control] = [g for _, g in Page(html).elements if g.get("id") == "f-context/photo"]
    assert control["aria-invalid"] == "true"
    assert "f-context/photo-problems" in str(control["aria-describedby"])


POISON = {
    "widget": "choose_one", "prompt": HOSTILE, "options": [
        HOSTILE, {"label": HOSTILE, "help": HOSTILE, "score": HOSTILE, "picture": HOSTILE,
                  HOSTILE: HOSTILE, "id": HOSTILE}]}  # fmt: skip
POISONED: list[Field] = [
    from_question(POISON, [File(HOSTILE, HOSTILE, f"/files/{HOSTILE}")]),
    from_question({**POISON, "multiple": True}),
    from_question({"widget": "text", "pattern": HOSTILE, "default": HOSTILE}),
    from_question({"widget": "number", "unit": HOSTILE, "default": HOSTILE}),
    from_question({"widget": "file", "default": HOSTILE}, [File(HOSTILE, HOSTILE, HOSTILE)]),
    from_question({"widget": "json", "default": {HOSTILE: HOSTILE}}),
    from_schema({"type": "object", "title": HOSTILE, "properties": {HOSTILE: {
        "type": "array", "title": HOSTILE, "description": HOSTILE, "examples": [HOSTILE],
        "items": {"enum": [HOSTILE] * 2 + list(range(9)), "title": HOSTILE}}}},
        {HOSTILE: [HOSTILE]}),
]  # fmt: skip


@pytest.mark.parametrize("field", [*POISONED, *map(wrong, POISONED)])
def test_hostile_texts_stay_text(field: Field) -> None:
    html = drawn(field)
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= {
        *CONTROLS, "div", "p", "ul", "li", "a", "strong", "small", "span", "label", "fieldset",
        "legend", "img", "kbd", "option", "template",
    }  # fmt: skip
    assert not [given_ for _, given_ in page.elements if any(n.startswith("on") for n in given_)]
    assert "x49x" not in html
    shown = "".join(page.texts) + "".join(
        str(given_.get("value", "")) for tag, given_ in page.elements if tag != "button"
    )
    assert "\u202e" not in shown or field.kind in ("file", "files")
    for tag, given_ in page.elements:
        assert not str(given_.get("href", "#")).lower().startswith("javascript")
        assert tag != "img" or str(given_["src"]).startswith(("/files/", HOSTILE))


@pytest.mark.parametrize(
    "spec",
    [{"widget": 5}, {"widget": "choose_one", "options": [[[]] * 600]},
     {"widget": "number", "min": "x"}, {"widget": "file", "library": {}},
     {"widget": "number", "min": float("inf"), "default": float("nan")},
     {"widget": "text", "min_length": "x", "schema": 5}, {"widget": None, "schema": []},
     {"widget": "choose_one", "options": [float("inf")]}, {"widget": "text", "max_length": True},
     {"widget": "choose_one", "options": [{"picture": {}, "help": 5, "score": [], "label": None}]},
     {"widget": "json", "default": "\0"}, {"options": {}}],
)  # fmt: skip
def test_a_strange_question_has_a_form(spec: dict[str, Any]) -> None:
    drawn(parse(from_question(spec), {"value": ["x"]}).field)


def test_a_deep_question_has_a_form() -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    for spec in ({"widget": "choose_one", "options": [deep]}, {"widget": "json", "default": deep}):
        assert "cannot be shown: it is nested too deep" in drawn(from_question(spec))
    field = from_question({"widget": "choose_one", "options": ["a"], "default": deep})
    assert [option.value for option in field.options] == ["a"]


def test_too_many_options_are_not_drawn() -> None:
    field = from_question({"widget": "choose_one", "options": list(range(501))})
    assert (field.kind, len(drawn(field)) < 2000) == ("json", True)
    assert "It has 501 options, too many to be shown" in field.help


# Files of the browser ---------------------------------------------------------------------------


def test_the_script_is_small_and_has_no_markup() -> None:
    text = (ROOM / "static" / "forms.js").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert word not in text


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_can_be_parsed() -> None:
    node = shutil.which("node") or ""
    subprocess.run([node, "--check", ROOM / "static" / "forms.js"], check=True)


# With the database ------------------------------------------------------------------------------

Db = psycopg.Connection[Any]
ASKED: list[tuple[dict[str, Any], str, Any]] = [
    ({"widget": "choose_one", "source": [{"id": 1, "n": Decimal("0.10")}, "b"]}, "first",
     {"n": Decimal("0.10"), "id": 1}),  # as jsonb orders them
    ({"widget": "turnout", "options": ["a", "b"], "multiple": True}, "second", ["b"]),
    ({"widget": "confirm"}, "second", False),
    ({"widget": "text", "min_length": 2, "pattern": "^a"}, "ab", "ab"),
    ({"widget": "number", "max": 2**53 + 1}, "9007199254740993", 2**53 + 1),
    ({"widget": "file"}, "/out/a.png", "/out/a.png"),
    ({"widget": "json", "schema": {"type": "string"}}, "x", "x"),
]  # fmt: skip
PLACES = {"first": 0, "second": 1}


def ask(db: Db, spec: dict[str, Any]) -> tuple[int, Field]:
    """Ask a question in a run; its id, and the form of the question as the database has it."""
    steps = [{"id": "q", "kind": "input", **spec}]
    definition = exact_json.write({"name": "w", "steps": steps})
    db.execute("select qwf.register_workflow(%s)", (definition,))
    db.execute("select qwf.enqueue_run('w')")
    query = "select job_id, spec::text from qwf.pending_inputs order by since desc limit 1"
    [(job, stored)] = db.execute(query).fetchall()
    return job, from_question(exact_json.read(stored), FILES)


def answer(db: Db, job: int, value: Any) -> Any:
    """Answer a question; returns the answer that the database has stored."""
    sent = Jsonb(value, dumps=exact_json.write)
    db.execute("select qwf.answer_job(%s, %s)", (job, sent))
    query = "select value::text from qwf.input_answers where job_id = %s"
    [(stored,)] = db.execute(query, (job,)).fetchall()
    return exact_json.read(stored)


def test_the_database_takes_what_a_form_sends(db: Db) -> None:
    for spec, entered, value in ASKED:
        job, field = ask(db, spec)
        sent = field.options[PLACES[entered]].key if entered in PLACES else entered
        assert same(answer(db, job, value_of(field, {"value": [sent]})), value), spec


@pytest.mark.parametrize("text", ["b", "ac"])
def test_a_refusal_of_the_database_stands_at_its_field(db: Db, text: str) -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {
        "a: b": {"type": "string", "pattern": "^ab", "minLength": 2}}}}  # fmt: skip
    job, field = ask(db, {"widget": "json", "schema": schema})
    sent = {"value/*": ["3", "7"], "value/3/a%3A%20b": ["ab"], "value/7/a%3A%20b": [text]}
    filled = parse(field, sent)
    with pytest.raises(psycopg.Error) as caught:
        answer(db, job, filled.value)
    assert caught.value.sqlstate == "QW005"
    marked = refused(filled.field, caught.value.diag.message_detail)
    [wrong_one] = marked.troubled()
    assert (wrong_one.path, wrong_one.entered) == ('value[1]["a: b"]', text)
    assert wrong_one.problems[-1] == "must match ^ab"


def test_a_refused_number_and_choice_stand_at_the_answer(db: Db) -> None:
    for spec, bad in (
        ({"widget": "number", "max": 5}, 6), ({"widget": "choose_one", "options": ["a"]}, "b"),
    ):  # fmt: skip
        job, field = ask(db, spec)
        with pytest.raises(psycopg.Error) as caught:
            answer(db, job, bad)
        assert refused(field, caught.value.diag.message_detail).problems


def test_what_a_workflow_misses_stands_at_its_input(db: Db) -> None:
    step = {"id": "q", "kind": "input", "widget": "text", "prompt": {"$from": "photo.path"}}
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "w", "steps": [step]}),))
    path = {"type": "object", "properties": {"path": {"type": "string"}}}
    field = from_schema({"type": "object", "properties": {"photo": path}})
    with pytest.raises(psycopg.Error) as caught:
        db.execute("select qwf.enqueue_run('w', '{}')")
    marked = refused(field, caught.value.diag.message_detail)
    assert [one.path for one in marked.troubled()] == ["context.photo.path"]


def test_a_problem_of_every_strange_name_stands_at_its_field(db: Db) -> None:
    several = [*NAMES, "a\u00a0b", "a\u2028b", "a\x1fb", "a\\b", 'a"b', "a]", "a:", "x.y[0]"]
    for start in range(0, len(several), 10):  # a refusal lists 20 problems
        names = several[start : start + 10]
        inner = {"type": "string", "pattern": "^x"}
        schema = {"type": "object", "properties": dict.fromkeys(names, inner)}
        job, field = ask(db, {"widget": "json", "schema": schema})
        with pytest.raises(psycopg.Error) as caught:
            answer(db, job, dict.fromkeys(names, "y"))
        marked = refused(field, caught.value.diag.message_detail)
        assert [one.key for one in marked.troubled()] == [one.key for one in field.fields]

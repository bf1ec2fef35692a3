"""The fields of a form, made from a question or from a JSON schema.

A form is a tree of fields. It only helps to write a value; the database decides whether it fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import brief
from qwf_agent.web.forms import exact_json
from qwf_agent.web.forms.choices import (
    MISSING,
    File,
    Option,
    key_of,
    options_of,
    stands_for,
    suffixes_of,
)  # fmt: skip
from qwf_agent.web.forms.wording import (
    FALLBACK,
    bound_words,
    common_pattern,
    help_of,
    is_list,
    joined,
    length,
    length_words,
    member_path,
    number_text,
    pattern_words,
    text_rules,
    title_of,
    visible_text,
)  # fmt: skip

Kind = Literal[
    "choice", "choices", "confirm", "text", "number", "file", "files", "group", "list", "json"
]
MAX_PARTS = 1500  # of a schema and its value; what has more is edited as JSON
MAX_LEVELS = 6  # of groups and lists in each other; what is deeper is edited as JSON
MAX_ELEMENTS = 200  # of a list with a field for each element
MAX_OPTIONS = 500  # that are shown; of more, one is chosen by its JSON

# These parts of a control's name cannot be parts of a property's name, whose * is escaped.
ELEMENTS, OTHER, REST = "/*", "/*other", "/*rest"


@dataclass(frozen=True)
class Field:
    """One field of a form, with what was entered and what is wrong with it.

    `path` is what the database calls the value (`value.boxes[0].label`), `name` what the browser
    calls the control (`value/boxes/0/label`).
    """

    name: str
    path: str
    kind: Kind
    label: str = ""
    help: str = ""
    required: bool = True
    nullable: bool = False
    given: bool = False  # it had a value before anybody entered one
    options: tuple[Option, ...] = ()
    cards: bool = False  # the options are shown as cards, with number keys
    minimum: str | None = None
    maximum: str | None = None
    step: str | None = None
    integer: bool = False
    unit: str = ""
    placeholder: str = ""  # what it is if nothing is entered
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None  # for the browser; only if it means the same there
    multiline: bool = False
    entered: str = ""
    chosen: frozenset[str] = frozenset()
    fields: tuple[Field, ...] = ()
    key: str = ""  # of a member of an object
    item: Field | None = None  # what a new element of a list looks like
    elements: tuple[Field, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its control in the page."""
        return f"f-{self.name}"

    @property
    def has_blank(self) -> bool:
        """True if it offers to choose none of its options."""
        optional = not self.required and not self.given
        return self.kind == "choice" and not self.cards and optional

    def troubled(self) -> list[Field]:
        """Itself and the fields below it that have problems, in their order."""
        below = [one for field in (*self.fields, *self.elements) for one in field.troubled()]
        return [self, *below] if self.problems else below


def from_question(spec: Mapping[str, Any], files: Sequence[File] = ()) -> Field:
    """The form of a question, from `spec` of the view pending_inputs.

    Read the spec with exact_json.read, so that an answer has the digits of its option. An option
    is answered whole, as `qwf answer` does it. `files` are the files that may be picked or shown.
    """
    widget, default = spec.get("widget"), spec.get("default", MISSING)
    root = Field("value", "value", "json", "Your answer", given=default is not MISSING)
    if isinstance(spec.get("options"), list) or widget in ("choose_one", "turnout", "on_failure"):
        return _choice(root, spec, default, files)
    if widget == "confirm":
        return replace(root, kind="confirm", options=options_of([True, False]))
    if widget == "text":
        return _text(root, text_rules(spec), default, multiline=spec.get("multiline") is True)
    if widget == "number":
        unit = spec.get("unit")
        rules: dict[str, Any] = {"type": "integer" if spec.get("integer") is True else "number"}
        bounds = {"minimum": spec.get("min"), "maximum": spec.get("max")}
        field = _number(root, rules | bounds, default)
        step = number_text(spec.get("step"))
        return replace(
            field, step=step or field.step, unit=visible_text(unit) if isinstance(unit, str) else ""
        )
    if widget == "file":
        return _file(root, spec, default, files)
    return from_schema(spec.get("schema") or {}, default, name="value", label="Your answer")


def from_schema(
    schema: Mapping[str, Any],
    value: Any = MISSING,
    *,
    name: str = "context",
    label: str = "",
) -> Field:
    """The form of a value that fits a JSON schema: the inputs of a workflow, or an answer.

    `value` is what the form shows at first; the defaults of the schema are shown besides.
    """
    root = Field(name, name, "json", label or title_of(schema, "Inputs"))
    given = [schema, None if value is MISSING else value]
    if exact_json.parts(given, MAX_PARTS) > MAX_PARTS:
        return _json(root, value, schema)
    return _of_schema(root, schema, value, 0)


def _of_schema(field: Field, schema: Any, value: Any, level: int) -> Field:
    """The field with its kind, by its schema and the value that it has; with what it is if nothing
    is entered."""
    made = _of_kind(field, schema, value, level)
    if not isinstance(schema, Mapping) or FALLBACK not in schema:
        return made
    fallback = brief(schema[FALLBACK])
    if made.kind in ("text", "number", "choice") and not made.multiline:
        return replace(made, placeholder=f"{fallback} (default)")
    return replace(made, help=joined(made.help, f"Default: {fallback}."))


def _of_kind(field: Field, schema: Any, value: Any, level: int) -> Field:
    """The field with its kind, by its schema and the value that it has."""
    if not isinstance(schema, Mapping):
        schema = {}
    if value is MISSING:
        value = schema.get("default", MISSING)
    field = replace(field, help=help_of(schema), given=value is not MISSING)
    types = schema.get("type", [])
    types = {types} if isinstance(types, str) else set(map(str, types if is_list(types) else []))
    field = replace(field, nullable="null" in types)
    types -= {"null"}
    if isinstance(schema.get("enum"), list):
        return _enum(field, schema["enum"], value)
    if types == {"object"} and schema.get("properties"):
        return _group(field, schema, value, level)
    if types == {"array"} and "items" in schema:
        return _list(field, schema, value, level)
    if types == {"boolean"}:
        return _enum(field, [True, False], value)
    if types == {"string"}:
        return _text(field, schema, value)
    if types and types <= {"number", "integer"}:
        return _number(field, schema, value)
    return _json(field, value, schema)


def _choice(
    field: Field, spec: Mapping[str, Any], default: Any, files: Sequence[File] = ()
) -> Field:
    """A question with options: `options`, or else `source`."""
    lists = (spec.get("options"), spec.get("source"))
    offered = next((one for one in lists if isinstance(one, list)), [])
    multiple = spec.get("multiple") is True
    try:
        options = options_of(offered or [None], files, failure=spec.get("widget") == "on_failure")
    except ValueError as error:
        words = f"Its options cannot be shown: {error}."
        return _json(replace(field, help=words), MISSING, {})
    if len(options) > MAX_OPTIONS:
        words = f"It has {len(options)} options, too many to be shown."
        return _json(replace(field, help=words), default, {})
    if not offered:
        options = (replace(options[0], label="There is nothing to choose from"),)
    taken = [option for option in options if stands_for(default, option.value, multiple)]
    return replace(
        field,
        kind="choices" if multiple else "choice",
        options=options,
        cards=True,
        # A single card is not chosen at first: it would be answered by mistake.
        chosen=frozenset(option.key for option in taken if multiple),
        help=f"If nobody answers in time: {taken[0].label}" if taken and not multiple else "",
    )


def _enum(field: Field, values: Sequence[Any], value: Any) -> Field:
    try:
        options = options_of([*values, *([None] if field.nullable and None not in values else [])])
        chosen = frozenset() if value is MISSING else frozenset([key_of(value)])
    except ValueError:
        return _json(field, value, {"enum": values})
    if chosen - {option.key for option in options}:
        return _json(field, value, {"enum": values})
    return replace(field, kind="choice", options=options, chosen=chosen)


def _text(field: Field, rules: Mapping[str, Any], value: Any, multiline: bool = False) -> Field:
    text = "" if value is MISSING or (value is None and field.nullable) else value
    unseen = not isinstance(text, str) or visible(text) != text or "\r" in text
    if unseen or (text == "" and field.nullable and value == ""):  # an empty entry means null
        return _json(field, value, rules)
    least, most = (length(rules.get(key)) for key in ("minLength", "maxLength"))
    pattern = rules.get("pattern")
    return replace(
        field,
        kind="text",
        help=joined(field.help, length_words(least, most), pattern_words(pattern)),
        min_length=least,
        max_length=most,
        pattern=common_pattern(pattern),
        multiline=multiline or "\n" in text or len(text) > 200,
        entered=text,
    )


def _number(field: Field, rules: Mapping[str, Any], value: Any) -> Field:
    text = "" if value is MISSING or (value is None and field.nullable) else number_text(value)
    if text is None:
        return _json(field, value, rules)
    least, most = (number_text(rules.get(key)) for key in ("minimum", "maximum"))
    types = rules.get("type")
    integer = types == "integer" or (isinstance(types, list) and "number" not in types)
    return replace(
        field,
        kind="number",
        help=joined(field.help, bound_words(least, most)),
        minimum=least,
        maximum=most,
        integer=integer,
        step="1" if integer else None,
        entered=text,
    )


def _file(field: Field, spec: Mapping[str, Any], default: Any, files: Sequence[File] = ()) -> Field:
    """A question for a file: one of the listed files, or another path."""
    multiple = spec.get("multiple") is True
    library = spec.get("library")
    own = [File(one, one) for one in library if isinstance(one, str)] if is_list(library) else []
    suffixes = suffixes_of(spec.get("accept"))
    offered = {
        file.path: file
        for file in [*own, *files]
        if suffixes is None or file.path.lower().endswith(suffixes)
    }
    wanted = default if isinstance(default, list) else [default]
    chosen = frozenset(one for one in wanted if one in offered)
    others = [one for one in wanted if isinstance(one, str) and one not in offered]
    if any(visible(one) != one or "\n" in one for one in others):
        return _json(field, default, {})
    return replace(
        field,
        kind="files" if multiple else "file",
        options=tuple(
            Option(file.path, file.path, visible_text(file.label), picture=file.url)
            for file in list(offered.values())[:MAX_OPTIONS]
        ),
        cards=True,
        chosen=chosen,
        entered="\n".join(others),
    )


def _group(field: Field, schema: Mapping[str, Any], value: Any, level: int) -> Field:
    properties: Mapping[str, Any] = schema["properties"]
    members = {} if value is MISSING else value
    open_to_others = schema.get("additionalProperties") is True
    if (
        level >= MAX_LEVELS
        or field.nullable
        or not isinstance(members, Mapping)
        or (not open_to_others and set(members) - set(properties))
    ):
        return _json(field, value, schema)
    required = schema.get("required") or []
    # jsonb sorts the keys of an object by their length. A list keeps its order: `properties_order`,
    # else the fields that a person has to fill in come first, in the order of `required`.
    order = schema.get("properties_order") or required
    keys = [*dict.fromkeys(key for key in order if key in properties)]
    keys += [key for key in properties if key not in keys]
    fields = [
        _of_schema(
            Field(
                f"{field.name}/{quote(key, safe='')}",
                member_path(field.path, key),
                "json",
                title_of(properties[key], key),
                required=key in required,
                key=key,
            ),
            properties[key],
            members.get(key, MISSING),
            level + 1,
        )
        for key in keys
    ]
    if open_to_others:
        rest = {key: one for key, one in members.items() if key not in properties}
        blank = Field(
            f"{field.name}{REST}", f"{field.path}.*", "json", "Other members", required=False
        )
        fields.append(_json(replace(blank, help="A JSON object."), rest or MISSING, {}))
    return replace(field, kind="group", fields=tuple(fields))


def _list(field: Field, schema: Mapping[str, Any], value: Any, level: int) -> Field:
    values = [] if value is MISSING else value
    if (
        level >= MAX_LEVELS
        or field.nullable
        or not isinstance(values, list)
        or len(values) > MAX_ELEMENTS
    ):
        return _json(field, value, schema)
    items = schema["items"]
    item = Field(f"{field.name}/*{level}", f"{field.path}[]", "json", title_of(items, "element"))
    item = _of_schema(item, items, MISSING, level + 1)
    elements = tuple(
        _of_schema(
            Field(f"{field.name}/{place}", f"{field.path}[{place}]", "json", item.label),
            items,
            one,
            level + 1,
        )
        for place, one in enumerate(values)
    )
    if not all(_is_read_by(item, element) for element in elements):
        return _json(field, value, schema)
    return replace(field, kind="list", item=item, elements=elements)


def _json(field: Field, value: Any, schema: Mapping[str, Any]) -> Field:
    """A field for the JSON of a value, for all that a form has no control for."""
    try:
        text = "" if value is MISSING else exact_json.pretty(value)
    except ValueError as error:
        text, field = "", replace(field, help=f"Its present value cannot be shown: {error}.")
    types = schema.get("type")
    named = [types] if isinstance(types, str) else types if is_list(types) else []
    wanted = " or ".join(map(str, named))
    return replace(
        field,
        kind="json",
        help=joined(field.help, f"JSON: {wanted}." if wanted else "JSON; a text is in quotes."),
        given=value is not MISSING,
        entered=text,
    )


def _is_read_by(item: Field, element: Field) -> bool:
    """Return True if `item` reads the value that `element` shows: every sent element is read by
    `item`, which does not know what was there before."""
    if item.kind != element.kind:
        return False
    if element.given and not element.required and not item.given:
        left_out = _shows(element) == _shows(item)
        if left_out and element.kind in ("text", "number", "list", "group"):
            return False
    return all(map(_is_read_by, item.fields, element.fields))


def _shows(field: Field) -> tuple[Any, ...]:
    """The value as a person sees it in the field."""
    below = [_shows(one) for one in (*field.fields, *field.elements)]
    return field.entered, field.chosen, below

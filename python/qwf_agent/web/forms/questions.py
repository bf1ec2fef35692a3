"""Reads one question: what is asked, the files to look at, its form, or how it was answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from qwf_agent.look import draw
from qwf_agent.look.draw.words import cut
from qwf_agent.web.forms import exact_json, filled
from qwf_agent.web.reads.database import Look, sequence
from qwf_agent.web.site import files
from qwf_agent.web.site.page import NotFoundError

MOST_SHOWN = 100  # files to look at, and pictures of options, each
MOST_OFFERED = 500  # files of a run, if the question asks for a file
NAMES_OF_OPTION = ("label", "title", "name", "value", "id")
LONGEST_ANSWER = LONGEST_PROMPT = 2000  # characters that are shown

JOB = """
select
  j.id as job_id, j.run_id, j.workflow, j.node_id, j.task, j.project, j.status,
  j.input_spec::text as spec, j.input_spec ->> 'prompt' as prompt,
  j.input_spec ->> 'widget' as widget, j.input_spec ->> 'error' as error, j.attempt,
  date_trunc('milliseconds', coalesce(j.queued_at, j.created_at)) as since,
  qwf.now() - coalesce(j.queued_at, j.created_at) as age,
  case when j.queue is null then j.expires_at end as expires_at,
  case when j.queue is null then j.expires_at - qwf.now() end as left
from qwf.job_details j
where j.id = %(job)s
"""
ANSWER = """
select a.id, a.value::text as value, a.login, a.acting_for, a.by_default, a.answered_at, a.ago
from qwf.answer_overview a where a.job_id = %(job)s
order by a.id desc limit 1
"""
KNOWN = "select d.id as last from qwf.job_details d order by d.id desc limit 1"
FILES = """
select * from qwf.file_overview f
where f.run_id = %(run)s and (%(paths)s::text[] is null or f.rel_path = any (%(paths)s))
order by f.job_id desc, f.file_no limit %(most)s
"""


@dataclass(frozen=True)
class Looked:
    """A file to look at: as the question names it, and the row that lists it, if one does."""

    name: str
    row: Mapping[str, Any] | None = None
    picture: str | None = None  # address of the picture, if it can be shown in the page
    address: str | None = None  # of the file itself
    host: str | None = None
    unserved: bool = False  # a picture, but no folder that is served has it


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as a person reads it: what it is called, and its JSON if that says more."""

    word: str
    json: str = ""
    picture: Any = None


@dataclass(frozen=True)
class AskedQuestion:
    """One question, as far as it is asked. `form` is None if it does not wait for an answer."""

    job: Mapping[str, Any]
    spec: Mapping[str, Any]
    form: filled.Field | None = None
    show: Sequence[Looked] = ()
    shown: frozenset[tuple[int, int]] = frozenset()  # job and number of each picture in the page
    answer: Mapping[str, Any] | None = None  # the newest, maybe to an earlier question of the job
    given: ShownAnswer | None = None  # what it was answered with

    @property
    def waits(self) -> bool:
        """True if it can be answered now."""
        return self.form is not None

    @property
    def is_failure(self) -> bool:
        """True if it asks what to do about a failure."""
        return bool(self.job["widget"] == "on_failure")

    @property
    def prompt(self) -> str:
        """The question, or else the name of what asks."""
        prompt: str = self.job["prompt"] or ""
        return cut(prompt if prompt.strip() else self.name, LONGEST_PROMPT)

    @property
    def name(self) -> str:
        """The node or task that asks."""
        return str(self.job["node_id"] or self.job["task"])

    @property
    def asked(self) -> datetime:
        """When it was asked: argument `asked` of qwf.answer_job."""
        when: datetime = self.job["since"]
        return when

    @property
    def draft(self) -> str:
        """The name of what somebody has typed and not sent."""
        return draft_of(self.job["job_id"], self.asked.isoformat())

    @property
    def typed(self) -> str:
        """An answer as a person types it for `qwf answer`."""
        return draw.typed(self.spec)

    @property
    def first(self) -> str:
        """Label of the first option, if the answer is typed."""
        options = self.form.options if self.form is not None else ()
        return options[0].label if options and self.typed == draw.FIRST else ""

    @property
    def default(self) -> str | None:
        """The answer if nobody answers in time; None: the run fails."""
        if "default" not in self.spec:
            return None
        default = self.spec["default"]
        options = self.form.options if self.form is not None else ()
        named = (one.label for one in options if filled.stands_for(default, one.value))
        return next(named, None) or said(exact_json.write(default))


@dataclass
class Reader:
    """Reads questions for one page. `roots` are the folders below which files are served; `files`
    is the address below which this page has them, `pictures_only` if it has nothing else."""

    look: Look
    roots: Sequence[files.Root]
    files: str
    pictures_only: bool = False
    _shown: set[tuple[int, int]] = field(default_factory=set)

    async def read(self, job: int) -> AskedQuestion:
        """The question of a job. Raises NotFoundError if there is no such job."""
        row = await self.look.row(JOB, job=job)
        if row is None:
            raise NotFoundError(await self._unknown(job))
        spec, unreadable = _spec(row["spec"])
        answer = await self.look.row(ANSWER, job=job)
        said = given(answer["value"]) if answer is not None else None
        if row["status"] != "awaiting_input":
            chosen = {"show": said.picture if said is not None else None}
            listed = await self._listed(row, chosen)
            show = [self._looked(one, listed) for one in _references(chosen["show"])]
            return AskedQuestion(row, spec, answer=answer, given=said, show=show)
        listed = await self._listed(row, spec)
        show = [self._looked(one, listed) for one in _references(spec.get("show"))]
        offered = await self._offered(row, spec)
        known = [*self._files_of_form(spec, listed), *offered]
        form = filled.from_question(spec, known)
        if unreadable:
            form = replace(form, help=f"The question cannot be shown here: {unreadable}. JSON.")
        return AskedQuestion(row, spec, form, show, frozenset(self._shown), answer, said)

    async def _unknown(self, job: int) -> str:
        known = await self.look.row(KNOWN)
        if known is None or known["last"] is None or job > known["last"]:
            newest = f" The newest has the id {known['last']}." if known and known["last"] else ""
            return f"There has never been a job {job}.{newest}"
        return f"Job {job} is not there any more: finished jobs are deleted after some days."

    async def _listed(
        self, row: Mapping[str, Any], spec: Mapping[str, Any]
    ) -> dict[str, Mapping[str, Any]]:
        """The files of the run that the question names, by their paths below its folder."""
        named = [*_references(spec.get("show")), *_pictures(spec)]
        run = row["run_id"]
        paths = sorted({path for one in named for path in _below_run(one.name, run)})
        if run is None or not paths:
            return {}
        rows = await self.look.rows(FILES, run=run, paths=paths, most=2 * MOST_SHOWN)
        return {one["rel_path"]: one for one in rows}

    async def _offered(self, row: Mapping[str, Any], spec: Mapping[str, Any]) -> list[filled.File]:
        """The files of the run, for a question that asks for one: the newest."""
        if spec.get("widget") != "file" or row["run_id"] is None:
            return []
        found = await self.look.rows(FILES, run=row["run_id"], paths=None, most=MOST_OFFERED)
        return [
            filled.File(path, one["rel_path"], self._picture(one))
            for one in found
            if (path := _path(one)) is not None
        ]

    def _files_of_form(
        self, spec: Mapping[str, Any], listed: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[filled.File]:
        """The pictures of options, under the names that the options have for them."""
        if spec.get("widget") == "file":
            return  # its options are what may be answered
        for one in _pictures(spec):
            looked = self._looked(one, listed)
            if looked.picture is not None:
                yield filled.File(one.name, one.name, looked.picture)

    def _looked(self, named: Looked, listed: Mapping[str, Mapping[str, Any]]) -> Looked:
        """The file with its addresses, if it is listed by a job of the same run."""
        row = next((one for one in listed.values() if _is_named(named.name, one)), None)
        if row is None:
            return named
        address = None if self.pictures_only else f"{self.files}/{row['job_id']}/{row['file_no']}"
        picture = self._picture(row)
        return replace(
            named, row=row, host=row["host"], address=address, picture=picture,
            unserved=picture is None and files.has_thumbnail(row),
        )  # fmt: skip

    def _picture(self, row: Mapping[str, Any]) -> str | None:
        """The address of a picture, if a folder that is served may have it."""
        if not files.has_thumbnail(row) or not files.may_serve(self.roots, row):
            return None
        self._shown.add((row["job_id"], row["file_no"]))
        return f"{self.files}/{row['job_id']}/{row['file_no']}"


def draft_of(job: int, asked: str) -> str:
    """The name under which a browser keeps what was typed for a question."""
    return f"question-{job}-{asked}"


def given(value: str | None) -> ShownAnswer:
    """An answer, from the JSON that the database keeps."""
    try:
        found = exact_json.read(value or "null")
        if isinstance(found, str):
            return ShownAnswer(cut(found, LONGEST_ANSWER))
        if isinstance(found, bool) or found is None:
            return ShownAnswer({True: "Yes", False: "No", None: "null"}[found])
        if not isinstance(found, dict | list):
            return ShownAnswer(exact_json.write(found))
        text = cut(exact_json.pretty(found), LONGEST_ANSWER)
    except ValueError:  # a number with 131,072 digits
        return ShownAnswer("", cut(value or "", LONGEST_ANSWER))
    members = found if isinstance(found, dict) else {}
    names = [members[key] for key in NAMES_OF_OPTION if isinstance(members.get(key), str)]
    return ShownAnswer(cut(names[0], LONGEST_ANSWER) if names else "", text, members.get("picture"))


def said(value: str) -> str:
    """A value on one line, from its JSON: a text without its quotes, an option by its label."""
    return given(value).word or value


def _spec(text: str | None) -> tuple[Mapping[str, Any], str]:
    """The question, and why it cannot be read exactly."""
    try:
        found = exact_json.read(text or "{}")
    except ValueError as error:
        return {}, str(error)
    return (found, "") if isinstance(found, dict) else ({}, "")


def _references(given: Any) -> list[Looked]:
    """The files that `show` names: paths, or entries of the files of a node."""
    named = given if isinstance(given, list) else [given]
    found = []
    for one in named[:MOST_SHOWN]:
        if isinstance(one, str) and one:
            found.append(Looked(one))
        elif isinstance(one, Mapping) and isinstance(one.get("rel_path"), str):
            host = one.get("host")
            found.append(Looked(one["rel_path"], host=host if isinstance(host, str) else None))
    return found


def _pictures(spec: Mapping[str, Any]) -> list[Looked]:
    """The pictures of the options."""
    lists = (spec.get("options"), spec.get("source"))
    offered = next((one for one in lists if isinstance(one, list)), [])
    options = [one for one in sequence(offered)[:MOST_OFFERED] if isinstance(one, Mapping)]
    return [found for one in options for found in _references(one.get("picture"))][:MOST_SHOWN]


def _below_run(path: str, run: int | None) -> Iterator[str]:
    """The forms of the path below the folder of the run: all of it, or what is behind its
    number."""
    yield path
    parts = path.split("/")
    for place, part in enumerate(parts[:-1]):
        if part == str(run):
            yield "/".join(parts[place + 1 :])


def _is_named(name: str, row: Mapping[str, Any]) -> bool:
    """Return True if the name of a file means the listed one: its path on the host, or below the
    run."""
    if not name.startswith("/"):
        return bool(name == row["rel_path"])
    path = _path(row)
    return (
        name == path if path is not None else name.endswith(f"/{row['run_id']}/{row['rel_path']}")
    )


def _path(row: Mapping[str, Any]) -> str | None:
    """The path of a listed file on its host, which is what a question for a file is answered with;
    None if nobody has said where the host writes."""
    try:
        return files.place(row).path
    except files.FileRefused:
        return None

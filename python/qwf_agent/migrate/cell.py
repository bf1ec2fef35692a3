"""Which cell a database is: its sequences give out only ids that name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from qwf_agent.migrate.plan import MigrateError, Script

MOST_CELLS = 1024  # as in qwf.cell_for
_SEQUENCES = ("qwf.runs_id_seq", "qwf.jobs_id_seq", "qwf.model_requests_id_seq")
_GIVEN_OUT = """exists (
      select from unnest('{qwf.runs_id_seq,qwf.jobs_id_seq,qwf.model_requests_id_seq}'::regclass[])
        s (id)
      where pg_sequence_last_value(s.id) is not null)"""
_CELL = sql.SQL("select cell, cells, {} from qwf.cell()").format(sql.SQL(_GIVEN_OUT))
_HAS_CELL = "select where to_regprocedure('qwf.cell()') is not null"
_REFUSED = "this database has given out ids, which name its cell and can never change"
_HINT = "leave out --cell to keep it; for cell {number}/{cells}, deploy to a new database"
# Looks twice: first without a lock, so that a database at work is refused at once; then with locks
# that every insert waits for before it takes an id.
_TEXT = """-- The cell of this database: cell {number} of {cells}

begin;

do $$
begin
  if (select c.cell = {number} and c.cells = {cells} from qwf.cell() c) then
    return;
  end if;
  for v_locked in 0 .. 1 loop
    if v_locked = 1 then
      lock table qwf.runs, qwf.jobs, qwf.model_requests in share row exclusive mode;
    end if;
    if {given_out} then
      raise exception using errcode = 'QW002',
        message = '{refused}',
        detail = (
          select format('it is cell %s of %s, not {number} of {cells}', c.cell, c.cells)
          from qwf.cell() c),
        hint = '{hint}';
    end if;
  end loop;
{alter}
end $$;

commit;
"""


@dataclass(frozen=True)
class Cell:
    """One of several databases: id % `cells` is `number` for every job and run in it."""

    number: int
    cells: int

    def __str__(self) -> str:
        return f"{self.number}/{self.cells}"

    def script(self) -> Script:
        """The script that makes a database this cell, unless it is already, or refuses if it has
        given out an id."""
        first = self.number or self.cells
        alter = "\n".join(
            f"  alter sequence {name} increment by {self.cells} start with {first}"
            f" restart with {first};"
            for name in _SEQUENCES
        )
        text = _TEXT.format(
            number=self.number, cells=self.cells, given_out=_GIVEN_OUT, alter=alter,
            refused=_REFUSED, hint=self._hint(),
        )  # fmt: skip
        return Script(Path(f"cell {self}"), lambda: text)

    def is_new(self, conn: psycopg.Connection[Any]) -> bool:
        """Return True if the script would change the cell of a database. Raises MigrateError if it
        would refuse. Writes nothing."""
        if conn.execute(_HAS_CELL).fetchone() is None:
            return True  # the schema, or an older one without cells, is still to come
        found = conn.execute(_CELL).fetchone()
        number, cells, given_out = found or (0, 1, False)
        if (number, cells) == (self.number, self.cells):
            return False
        if given_out:
            raise MigrateError(
                f"cell {self}: {_REFUSED}; it is cell {number} of {cells}, not {self.number} of"
                f" {self.cells}; {self._hint()}"
            )
        return True

    def _hint(self) -> str:
        return _HINT.format(number=self.number, cells=self.cells)


def read_cell(text: str) -> Cell:
    """The cell that a text like 3/16 names. Raises MigrateError."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if found is None:
        raise MigrateError(f"{text} is no cell: write its number and how many there can be: 3/16")
    cell = Cell(int(found[1]), int(found[2]))
    if not 1 <= cell.cells <= MOST_CELLS:
        raise MigrateError(f"{text}: there can be 1 to {MOST_CELLS} cells")
    if cell.number >= cell.cells:
        raise MigrateError(
            f"{text}: cells are numbered from 0, so the last of {cell.cells} is"
            f" {cell.cells - 1}/{cell.cells}"
        )
    return cell

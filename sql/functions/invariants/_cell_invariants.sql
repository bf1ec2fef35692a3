-- Deploy qwf:functions/invariants/_cell_invariants
-- Purpose: Returns violated invariants of ids in a database that is one of several cells.
-- Guarantees: One row for a table, however many of its ids are wrong: after rows of another cell
--   were restored, all of them are.
-- Called by: check_invariants.

begin;

create function _qwf.cell_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with cell as materialized (
    select c.cell, c.cells from qwf.cell() c
  ), wrong as (
    select 'job' as kind, min(j.id) as id, count(*) as ids
    from cell c join qwf.jobs j on c.cells > 1 and j.id % c.cells <> c.cell
    union all
    select 'run', min(r.id), count(*)
    from cell c join qwf.runs r on c.cells > 1 and r.id % c.cells <> c.cell
  )
  select 'an id belongs to the cell of its database', format('%s %s', w.kind, w.id),
    format('%s with the id of another cell; this is cell %s of %s', w.ids, c.cell, c.cells)
  from wrong w, cell c
  where w.ids > 0
  union all
  select 'sequences of ids agree on the cell', s.seqrelid::regclass::text,
    format('start %s, increment %s, last %s; this is cell %s of %s', s.seqstart, s.seqincrement,
      pg_sequence_last_value(s.seqrelid), c.cell, c.cells)
  from pg_sequence s, cell c
  where s.seqrelid = any (
      '{qwf.jobs_id_seq,qwf.runs_id_seq,qwf.model_requests_id_seq}'::regclass[])
    and (s.seqincrement <> c.cells or s.seqstart % c.cells <> c.cell
      or pg_sequence_last_value(s.seqrelid) % c.cells <> c.cell)
$$;

commit;

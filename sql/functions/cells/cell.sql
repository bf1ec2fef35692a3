-- Deploy qwf:functions/cells/cell
-- Purpose: Returns which cell this database is, and how many cells its ids have room for.
-- Guarantees: Reads the sequence of the job ids, which `qwf migrate deploy --cell` sets. So nothing
--   can say something else than the ids that are given out, and a dump keeps it.

begin;

create function qwf.cell() returns table (cell int, cells int)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select (s.seqstart % s.seqincrement)::int, s.seqincrement::int
  from pg_catalog.pg_sequence s
  where s.seqrelid = 'qwf.jobs_id_seq'::regclass
$$;
comment on function qwf.cell is
  'Which cell this database is, and how many there can be: id % cells is the cell of a job or run. '
  '0 of 1 unless the schema was deployed with --cell.';
call _qwf.allow('qwf.cell', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;

-- Deploy qwf:functions/shared/now
-- Purpose: The clock of the engine.
-- Guarantees: Every time the engine writes or compares comes from here; tests replace it.
-- Called by: everything; take it once into a variable.

begin;

create function qwf.now() returns timestamptz
language sql volatile
as 'select pg_catalog.clock_timestamp()';
comment on function qwf.now is
  'Clock time of the database, not transaction time; the only clock the engine uses.';
call _qwf.allow('qwf.now', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;

-- Deploy qwf:functions/shared/now
-- Purpose: Returns the time of the engine.
-- Guarantees: The engine takes every time that it writes or compares from here; tests replace it.
-- Called by: everything; call it once and keep the result in a variable.

begin;

create function qwf.now() returns timestamptz
language sql volatile
as 'select pg_catalog.clock_timestamp()';
comment on function qwf.now is
  'Returns the clock time of the database, not the transaction time; the only clock of the engine.';
call _qwf.allow('qwf.now', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;

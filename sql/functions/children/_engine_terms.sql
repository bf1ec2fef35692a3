-- Deploy qwf:functions/children/_engine_terms
-- Purpose: Returns the terms on which the engine takes jobs from the queue of runs.
-- Guarantees: As claim reads them for a worker that is not registered.
-- Called by: _serve_runs.

begin;

create function _qwf.engine_terms() returns _qwf.claim_terms
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_terms _qwf.claim_terms;
begin
  select q.paused, false, q.max_running, null, null,
    (select true from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null limit 1),
    (select true from qwf.jobs j
      where _qwf.line_of(j) = q.name and j.limit_place is not null
        and j.status in ('queued', 'running') limit 1),
    false, null
    into v_terms
  from qwf.queues q where q.name = 'qwf.runs';
  return v_terms;
end $$;

commit;

-- Deploy qwf:functions/enqueue/_raise_key_taken
-- Purpose: Refuses a job whose key an unfinished job has, and names that job.
-- Raises: QW008.
-- Called by: _insert_job, _merge_waiting.

begin;

create function _qwf.raise_key_taken(p_id bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_there record;
begin
  select j.id, j.status, j.key into v_there from qwf.jobs j where j.id = p_id;
  raise exception using errcode = 'QW008', message = 'key is taken',
    detail = format('job %s (%s) has key "%s"', p_id, coalesce(v_there.status::text, 'gone'),
      v_there.key),
    hint = 'key_mode => ''keep'' lets one wait behind it';
end $$;

commit;

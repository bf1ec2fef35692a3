-- Deploy qwf:functions/enqueue/_notice_unused
-- Purpose: Tells a producer that the job of its key keeps its arguments.
-- Guarantees: No notice if they are the same.
-- Called by: enqueue.

begin;

create function _qwf.notice_unused(p_id bigint, p_job _qwf.new_job) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
begin
  select j.status into v_status from qwf.jobs j where j.id = p_id and j.inputs <> p_job.args;
  if found then
    raise notice using
      message = format('merged into job %s (%s), your arguments were not used', p_id, v_status),
      hint = case when p_job.once
        then 'the key is taken once: use another key for other work'
        else 'key_mode => ''replace'' gives the job that waits the new arguments' end;
  end if;
end $$;

commit;

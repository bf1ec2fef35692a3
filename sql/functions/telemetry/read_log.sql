-- Deploy qwf:functions/telemetry/read_log
-- Purpose: Returns the end of what an attempt at a job has printed.
-- Guarantees: Empty if it printed nothing. Null until the attempt has ended, without an attempt
--   until one has; also null if the worker sent no log. follow_log() has what a running attempt
--   prints.

begin;

create function qwf.read_log(job_id bigint, attempt int default null) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_attempts int;
begin
  select j.attempt into v_attempts from qwf.jobs j where j.id = read_log.job_id;
  if not found then
    perform _qwf.raise_no_such_job(read_log.job_id);
  end if;
  if read_log.attempt not between 1 and v_attempts then
    raise exception using errcode = 'QW001', message = 'no such attempt',
      detail = format('attempt %s of job %s; attempts so far: %s',
        read_log.attempt, read_log.job_id, v_attempts),
      hint = 'leave attempt out to read the newest log';
  end if;
  return (
    select a.log_tail
    from qwf.job_attempts a
    where a.job_id = read_log.job_id
      and (read_log.attempt is null or a.attempt = read_log.attempt)
    order by a.attempt desc
    limit 1);
end $$;
comment on function qwf.read_log is
  'End of what an attempt at a job printed, the newest ended one if none is named; empty: it '
  'printed nothing, null: it has not ended, or its worker sent no log. QW001: no such job or '
  'attempt.';
call _qwf.allow('qwf.read_log', 'qwf_producer', 'qwf_viewer');

commit;

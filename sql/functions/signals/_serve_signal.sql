-- Deploy qwf:functions/signals/_serve_signal
-- Purpose: Answers steps that wait for a signal, and lets their runs go on.
-- Guarantees: Waits for nobody: a step whose run is locked is left to the tick. A step whose schema
--   the signal does not fit goes on waiting, and is not looked at again for this signal. A step
--   that a newer signal fits is left to that one. If a run cannot go on, the others do.
-- Locks: runs that nobody has locked; then as answer_job.
-- Notifies: sleepers of the queues that got work.
-- Called by: _match_signals, signal.

begin;

create function _qwf.serve_signal(p_signal qwf.signals, p_max int) returns _qwf.signal_answers
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_found bigint[];
  v_jobs bigint[];
  v_newer bigint[];
  v_job bigint;
  v_count int := 0;
begin
  v_found := array(
    select w.job_id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id join qwf.runs r on r.id = j.run_id
    where w.kind = 'signal' and w.project = p_signal.project and w.name = p_signal.name
      and p_signal.id <> all (coalesce(w.refused, '{}'))
    order by w.job_id
    limit p_max
    for no key update of r skip locked);
  if v_found = '{}' then
    return (0, 0);
  end if;
  select array_agg(j.id order by j.id) into v_jobs
  from qwf.jobs j  -- again, under the locks: an answer may have come first
  where j.id = any (v_found) and j.status = 'awaiting_input' and j.queue is null
    and not _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    and not exists (select from _qwf.answer_problems(j.input_spec, p_signal.payload));
  update qwf.waits w set refused = (p_signal.id || w.refused)[:1000]
  where w.job_id = any (v_found) and w.job_id <> all (coalesce(v_jobs, '{}'))
    and w.kind = 'signal';
  v_newer := array(
    select j.id from qwf.jobs j
    where j.id = any (v_jobs) and exists (
      select from qwf.signals n
      where n.project = p_signal.project and n.name = p_signal.name and n.id > p_signal.id
        and n.keep_until > qwf.now()
        and not exists (select from _qwf.answer_problems(j.input_spec, n.payload))));
  v_jobs := array(select id from unnest(v_jobs) id where id <> all (v_newer) order by id);
  begin
    perform _qwf.apply_signal(v_jobs, p_signal);
    v_count := coalesce(cardinality(v_jobs), 0);
  exception
    when others then  -- one run cannot go on: each by itself
      foreach v_job in array v_jobs loop
        begin
          perform _qwf.apply_signal(array[v_job], p_signal);
          v_count := v_count + 1;
        exception
          when others then
            raise warning using message = 'a step cannot go on with its signal',
              detail = format('job %s: %s %s', v_job, sqlstate, sqlerrm);
        end;
      end loop;
  end;
  return (cardinality(v_found), v_count);
end $$;

commit;

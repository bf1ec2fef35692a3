-- Deploy qwf:functions/read/why_not
-- Purpose: Returns why a job is not running, in words a person can act on.
-- Guarantees: One line for each reason, and at least one. Names the worker that comes nearest. The
--   plan is pinned: lists call this for each row, also when statistics are old.

begin;

create function qwf.why_not(job_id bigint) returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j where j.id = why_not.job_id;
  if not found then
    perform _qwf.raise_no_such_job(why_not.job_id);
  end if;
  case v_job.status
    when 'running' then
      return next _qwf.why_running(v_job, v_now);
    when 'scheduled' then
      return next format('it waits for %s%s%s%s', v_job.run_at,
        case when isfinite(v_job.run_at)
          then ', in ' || date_trunc('second', v_job.run_at - v_now) end,
        case when (v_job.options).start_by > v_job.run_at and v_job.attempt = 0 then
          ': it is debounced, and a call with its key may put it off until '
            || (v_job.options).start_by end,
        coalesce(', after: ' || _qwf.error_line(v_job.last_error), (
          select ', which is its delay' from qwf.graph_nodes n
          where n.graph_id = v_job.graph_id and n.idx = v_job.node_idx and v_job.attempt = 0
            and n.delay is not null)));
    when 'awaiting_input' then
      return query
      select format('it waits for a person to answer: %s%s', v_job.input_spec ->> 'prompt',
        case when v_job.queue is null then ' until ' || v_job.expires_at end)
      where v_job.input_spec ? 'widget'
      union all
      select format('it waits for the signal %s%s%s', v_job.input_spec ->> 'signal',
        ' until ' || v_job.expires_at, case when array_remove(w.refused, -1) <> '{}' then
          '; the last one did not fit' || coalesce((
            select format(', sent at %s: %s', s.sent_at,
              string_agg(p.path || ' ' || p.problem, '; '))
            from qwf.signals s
            cross join lateral _qwf.answer_problems(v_job.input_spec, s.payload) p
            where s.project = w.project and s.name = w.name and s.id = any (w.refused)
            group by s.id
            order by s.id desc
            limit 1), '') end)
      from qwf.waits w
      where w.job_id = v_job.id and w.kind = 'signal';
    when 'blocked' then
      return query select * from _qwf.why_blocked(v_job);
      if not found then  -- never in a healthy database
        return next 'nothing it waits for is known: select * from qwf.check_invariants()';
      end if;
    when 'queued' then
      return query select * from _qwf.why_unclaimed(v_job, v_now);
    else
      return next coalesce((
        select case
            when r.finished_at is null and r.ending is null then format(
              'it runs only if the run fails or is cancelled: it takes back %s', n.targets)
            when r.status = 'completed' then 'the run completed: nothing is taken back'
            else format('there was nothing to take back of %s', n.targets) end
        from qwf.runs r
        cross join lateral (
          select array_to_string(g.compensates, ', ') as targets from qwf.graph_nodes g
          where g.graph_id = v_job.graph_id and g.idx = v_job.node_idx) n
        where v_job.status = 'skipped' and v_job.run_if = 'compensates' and r.id = v_job.run_id
      ), format('it has ended: %s%s', v_job.status,
        coalesce(', ' || _qwf.error_line(v_job.last_error), '')));
      if v_job.begun and v_job.last_error ~ '(^|; )it may have run' then
        return next 'look whether it did, and if it did not: qwf retry job ' || v_job.id;
      end if;
  end case;
end $$;
comment on function qwf.why_not is
  'Why the job is not running, one line for each reason; QW001: no such job.';
call _qwf.allow('qwf.why_not', 'qwf_producer', 'qwf_viewer');

commit;

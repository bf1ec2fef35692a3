-- Deploy qwf:functions/change/_change_runs
-- Purpose: Cancels or retries each run of a list, and returns a verdict for each.
-- Guarantees: A refusal changes nothing and does not stop the others. A run that is made after the
--   others were locked is not touched: to lock it later would break the order of locks. Runs are
--   changed in the order of their keys, in which enqueue_many takes keys; the runs are locked by
--   then, so their order no longer matters.
-- Locks: the runs, by id; then as cancel_run or retry_run.
-- Raises: QW005 for a list of more than 1000 runs, or with a null in it; errors that a later try
--   may not meet (see _is_passing_error), 57014.
-- Called by: cancel_runs, retry_runs.

begin;

create function _qwf.change_runs(p_verb text, p_runs bigint[], p_reason text default null)
returns setof qwf.run_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_locked bigint[];
  v_verdict qwf.run_verdict;
begin
  if cardinality(p_runs) > 1000 then
    raise exception using errcode = 'QW005', message = 'too many runs',
      detail = format('runs has %s ids, at most 1000', cardinality(p_runs)),
      hint = 'call it once for each 1000 runs';
  elsif exists (select from unnest(p_runs) u where u is null) then
    raise exception using errcode = 'QW005', message = 'null is not the id of a run',
      detail = 'runs has a null', hint = 'leave it out';
  end if;
  v_locked := _qwf.lock_runs(p_runs);
  for v_verdict.run_id in
    select r.id from qwf.runs r where r.id = any (v_locked)
    order by r.project, r.workflow, r.key, r.id
  loop
    begin
      if p_verb = 'retry' then
        perform qwf.retry_run(v_verdict.run_id);
        v_verdict.verdict := 'retried';
      else
        v_verdict.verdict := case
          when qwf.cancel_run(v_verdict.run_id, p_reason) then 'cancelled' else 'unchanged' end;
      end if;
      return next (v_verdict.run_id, v_verdict.verdict, null, null, null, null)::qwf.run_verdict;
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then
          raise;
        end if;
        get stacked diagnostics
          v_verdict.detail = pg_exception_detail, v_verdict.hint = pg_exception_hint;
        return next (v_verdict.run_id, 'refused', sqlstate, sqlerrm, v_verdict.detail,
          v_verdict.hint)::qwf.run_verdict;
    end;
  end loop;
  return query
    select u.id, 'refused', 'QW001', 'no such run', format('run %s', u.id),
      'ended runs are deleted after their retention; list runs: select * from qwf.run_overview'
    from (select distinct unnest(p_runs) as id) u
    where u.id <> all (v_locked)
    order by u.id;
end $$;

commit;

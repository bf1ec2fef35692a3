-- Deploy qwf:functions/finish/_drop_completed
-- Purpose: Ends attempts that completed and leave no row: deletes the job and everything kept about
--   it, and counts the attempt.
-- Guarantees: As the statement of finish_many: deletes nothing if one report is not ordinary. A
--   stale token deletes nothing. The caller has seen that all jobs leave no row.
-- Locks: the jobs, by id.
-- Called by: finish_many.

begin;

create function _qwf.drop_completed(
  p_reports jsonb, p_terms _qwf.report_terms, p_now timestamptz)
returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.finished;
  v_retried bigint[];
begin
  with report as materialized (
    select u.job_id, u.token, u.detail,
      _qwf.is_ordinary(u.value, u.outcome, u.output, u.error, u.detail,
        p_terms.max_output, p_terms.max_detail) as ordinary
    from rows from (
      jsonb_to_recordset(p_reports) as (
        job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb),
      jsonb_array_elements(p_reports)
      ) with ordinality u (job_id, token, outcome, output, error, detail, value, ord)
    order by u.job_id, u.ord
  ), ended as (
    delete from qwf.jobs j
    using report r
    where (select bool_and(o.ordinary) from report o) and j.id = r.job_id and j.token = r.token
    returning j.id, r.token, j.attempt, j.queue, j.task, j.queued_at, j.claimed_at, j.project,
      j.key, j.key_state, j.limit_place, r.detail
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, 'completed',
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(coalesce(_qwf.as_number(e.detail -> 'body_s', 1e9),
        date_part('epoch', p_now - e.claimed_at))::real)
    from ended e
    group by e.queue, e.task
  )
  select
    count(*), array_agg(e.id), array_agg(e.token),
    array_agg((e.project, e.task, e.key)::_qwf.job_key) filter (where e.key_state = 's'), null,
    array_agg(e.limit_place) filter (where e.limit_place is not null),
    array_agg(e.id) filter (where e.attempt > 1)
    into v_ended.count, v_ended.ids, v_ended.dropped, v_ended.keys, v_ended.events,
      v_ended.places, v_retried
  from ended e;
  delete from qwf.live_logs l where l.job_id = any (v_ended.ids);
  v_retried := v_retried || array(
    select p.job_id from qwf.job_progress p where p.job_id = any (v_ended.ids));
  if v_retried <> '{}' then
    perform _qwf.delete_jobs(v_retried);
  end if;
  return v_ended;
end $$;

commit;

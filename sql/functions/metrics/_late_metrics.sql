-- Deploy qwf:functions/metrics/_late_metrics
-- Purpose: Returns what is late, and when workflows last succeeded.
-- Guarantees: Names the 200 workflows and schedules that come first by name; the others have no
--   figure of their own. Reads one row for each, and the newest 100,000 open runs.
-- Called by: metrics_of.

begin;

create function _qwf.late_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select m.name, array['workflow', w.name], m.value, 'gauge', m.help
  from (select) one
  left join (
    select u.name, u.last_success, u.last_seconds, coalesce(l.runs, 0) as late
    from (
      select x.name, x.last_success, x.last_seconds from qwf.usual_times x
      where x.kind = 'run' order by x.name limit 200) u
    left join (
      select r.workflow, count(*) as runs
      from (
        select o.workflow, o.late_at from qwf.runs o
        where o.status in ('queued', 'running', 'awaiting_input')
        order by o.id desc limit 100000) r
      where r.late_at is not null group by r.workflow) l on l.workflow = u.name) w on true
  cross join lateral (values
    ('qwf_workflow_last_success_timestamp_seconds', date_part('epoch', w.last_success),
      'When a run of the workflow last completed.'),
    ('qwf_workflow_last_seconds', w.last_seconds::float8,
      'How long the run took that ended last.'),
    ('qwf_workflow_late', w.late::float8, 'Late runs, of the newest 100,000 open ones.')
  ) m (name, value, help)
  union all
  select m.name, array['name', s.name], m.value::float8, 'counter', m.help
  from (select) one
  left join (
    select s.name, s.fired, s.skipped, s.failed from qwf.schedules s
    where s.backfill_of is null order by s.name limit 200) s on true
  cross join lateral (values
    ('qwf_schedule_fired_total', s.fired, 'Times that the schedule fired.'),
    ('qwf_schedule_skipped_total', s.skipped, 'Times that were left out.'),
    ('qwf_schedule_failed_total', s.failed, 'Times that could not be enqueued.')
  ) m (name, value, help)
  union all
  select 'qwf_troubles', array['kind', o.kind], o.troubles, 'gauge',
    'What is wrong now and was told by an event of this kind.'
  from (select) one
  left join (
    select s.kind, count(*) as troubles from _qwf.open_states s group by s.kind) o on true
$$;

commit;

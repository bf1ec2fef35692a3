-- Deploy qwf:functions/metrics/_attempt_metrics
-- Purpose: Returns the counters of attempts that ended, as fast after a year as after an hour.
-- Called by: metrics_of.

begin;

create function _qwf.attempt_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select m.name,
    array['queue', t.queue, 'task', t.task, 'outcome', t.outcome], m.value,
    'counter', m.help
  from (select) one
  left join qwf.attempt_totals t on true
  cross join lateral (values
    ('qwf_attempts_total', t.count::float8, 'Attempts that ended, by outcome.'),
    ('qwf_attempt_wait_seconds_total', t.wait_seconds, 'Sum of their waiting times.'),
    ('qwf_attempt_run_seconds_total', t.run_seconds, 'Sum of their run times.')
  ) m (name, value, help)
$$;

commit;

-- Deploy qwf:functions/metrics/_run_metrics
-- Purpose: Returns the figures of runs, and of the questions that people are asked.
-- Called by: metrics_of.

begin;

create function _qwf.run_metrics() returns setof _qwf.metric
language sql stable
as $$
  select 'qwf_runs', jsonb_build_object('status', s.status), count(r.id), 'gauge',
    'Runs in the database, by status.'
  from unnest(enum_range(null::qwf.run_status)) s (status)
  left join qwf.runs r on r.status = s.status
  group by s.status
  union all
  select m.name, '{}', m.value, 'gauge', m.help
  from (
    select count(*) as open, coalesce(max(date_part('epoch', i.age)), 0) as oldest
    from qwf.pending_inputs i) i
  cross join lateral (values
    ('qwf_pending_inputs', i.open::float8, 'Questions that wait for a person.'),
    ('qwf_pending_input_oldest_seconds', i.oldest, 'Age of the oldest question.')
  ) m (name, value, help)
$$;

commit;

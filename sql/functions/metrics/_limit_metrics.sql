-- Deploy qwf:functions/metrics/_limit_metrics
-- Purpose: Returns the figures of limits: how many jobs may run and start, and how many do.
-- Called by: metrics_of.

begin;

create function _qwf.limit_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['limit', l.name], m.value, 'gauge', m.help
  from (select) one
  left join qwf.limits l on true
  cross join lateral (values
    ('qwf_limit_max_running', l.max_running::float8,
      'Jobs of the limit that may run at once.'),
    ('qwf_limit_running', case when l.name is not null then (
        (select count(s.job_id) from qwf.limit_slots s where s.limit_name = l.name) + (
          select count(*) from qwf.jobs j
          where l.keyed and j.limit_place is not null and j.status in ('queued', 'running')
            and _qwf.line_of(j) is null and split_part(j.limit_by, ':', 1) = l.name)
        )::float8 end,
      'Running jobs of the limit.'),
    ('qwf_limit_starts', l.starts::float8,
      'Jobs of the limit that may start in its period.'),
    ('qwf_limit_started', case when l.starts > 0 and not l.keyed then (
        select count(*) from qwf.limit_starts t
        where t.limit_name = l.name and t.used_at > qwf.now() - l.per
          and t.place <= l.starts)::float8 end,
      'Jobs of the limit that started in its last period.')
  ) m (name, value, help)
$$;

commit;

-- Deploy qwf:views/jobs/series_overview
-- Purpose: The numbers that bodies track, a row for each attempt and name.
-- Guarantees: Found by the job or its run by an index. Who does not read columns of the job does
--   not pay for them.

begin;

create view qwf.series_overview as
select
  s.job_id, s.attempt, s.run_id, j.node_id, j.node_idx, j.task, n.key as name,
  n.value -> 'points' as points,
  coalesce(_qwf.as_number(n.value -> 'reported', 1e15)::bigint,
    jsonb_array_length(n.value -> 'points')) as reported,
  n.value #> '{points,-1,0}' as last_step, n.value #> '{points,-1,1}' as last_value,
  s.at, s.left_out
from qwf.attempt_series s
cross join lateral jsonb_each(s.series) n
left join qwf.jobs j on j.id = s.job_id
where jsonb_typeof(n.value -> 'points') = 'array';
comment on view qwf.series_overview is
  'The numbers that bodies track: select * from qwf.series_overview where job_id = 7.';
comment on column qwf.series_overview.job_id is 'The job.';
comment on column qwf.series_overview.attempt is 'The attempt that tracked them.';
comment on column qwf.series_overview.run_id is 'Its run; null: standalone.';
comment on column qwf.series_overview.node_id is 'Its node.';
comment on column qwf.series_overview.node_idx is
  'Its node in the graph; null for an element of a map.';
comment on column qwf.series_overview.task is 'Name of the task or program that a worker ran.';
comment on column qwf.series_overview.name is 'The name of the number, such as loss.';
comment on column qwf.series_overview.points is
  'A list of [step, value], at most 500; a value that was not a number is null.';
comment on column qwf.series_overview.reported is
  'How many points the body tracked; if there are more than points has, it has some of them, as '
  'far apart as each other.';
comment on column qwf.series_overview.last_step is 'The step of the last point.';
comment on column qwf.series_overview.last_value is 'The value of the last point.';
comment on column qwf.series_overview.at is 'When it was reported last.';
comment on column qwf.series_overview.left_out is
  'How many other names the attempt tracked, which are not kept: at most 20 are.';

commit;

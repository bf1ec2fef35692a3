-- Deploy qwf:views/runs/run_usage
-- Purpose: Use of the attempts of a run.
-- Guarantees: One row a run. Reads all attempts of the run, those of map elements included, and
--   no others.
-- Called by: people, qwf web.

begin;

create view qwf.run_usage as
select
  r.id as run_id, a.attempts, a.cpu_seconds, a.gpu_seconds, a.lost_seconds, a.rss_bytes, a.gpu_bytes
from qwf.runs r
cross join lateral (
  select
    count(*) as attempts,
    coalesce(sum(_qwf.as_number(t.detail -> 'cpu_seconds')), 0)::float8 as cpu_seconds,
    coalesce(sum(extract(epoch from t.finished_at - t.started_at))
      filter (where _qwf.as_number(t.detail -> 'gpu_peak_bytes') > 0), 0)::float8 as gpu_seconds,
    coalesce(sum(extract(epoch from t.finished_at - t.started_at))
      filter (where t.outcome <> 'completed'), 0)::float8 as lost_seconds,
    max(_qwf.as_number(t.detail -> 'max_rss_bytes'))::bigint as rss_bytes,
    max(_qwf.as_number(t.detail -> 'gpu_peak_bytes'))::bigint as gpu_bytes
  from qwf.jobs j
  cross join lateral (  -- offset: else the planner may read the attempts of all runs
    select * from qwf.job_attempts t where t.job_id = j.id offset 0) t
  where j.run_id = r.id
) a;
comment on view qwf.run_usage is
  'Use of the ended attempts of runs: select * from qwf.run_usage where run_id = 7.';
comment on column qwf.run_usage.run_id is 'Run id.';
comment on column qwf.run_usage.attempts is 'Attempts that have ended.';
comment on column qwf.run_usage.cpu_seconds is 'Processor time, seconds.';
comment on column qwf.run_usage.gpu_seconds is 'Time of attempts that used a GPU, seconds.';
comment on column qwf.run_usage.lost_seconds is 'Time of attempts that did not complete, seconds.';
comment on column qwf.run_usage.rss_bytes is 'Most memory that one of them used.';
comment on column qwf.run_usage.gpu_bytes is 'Most GPU memory that one of them used.';

commit;

-- Lists read this view, also of a million jobs: what they do not show may cost nothing.
begin;
select plan(2);

create function pg_temp.plan_of(p_query text) returns text
language plpgsql
as $$
declare
  v_line text;
  v_plan text := '';
begin
  for v_line in execute 'explain (costs off) ' || p_query loop
    v_plan := v_plan || v_line || E'\n';
  end loop;
  return v_plan;
end $$;
insert into qwf.jobs (task, queue, status, finished_at)
select 'a', 'cpu', case when n % 100 = 0 then 'failed' else 'completed' end::qwf.job_status,
  '2030-01-01'::timestamptz + n * interval '1 s'
from generate_series(1, 5000) n;
analyze qwf.jobs;
select doesnt_match(pg_temp.plan_of(
  'select id, task, status, last_error, inputs from qwf.job_details where run_id = 1'),
  'on (runs|queues|workers|cancel_requests|settings|job_attempts)', 'no other table is read');
select matches(pg_temp.plan_of($$
    select id, last_error from qwf.job_details
    where status = 'failed' order by finished_at desc limit 10
  $$), 'Index Scan Backward using jobs_failed', 'and it walks an index of failures');

select * from finish();
rollback;

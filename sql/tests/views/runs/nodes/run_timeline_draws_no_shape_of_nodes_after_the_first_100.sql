select qwf_test.workflow('w', jsonb_agg(jsonb_build_object('id', 'n' || n)))
from generate_series(0, 100) n;
select qwf.enqueue_run('w');
insert into qwf.job_attempts (job_id, attempt, token, worker, started_at, finished_at, outcome)
select j.id, a, gen_random_uuid(), 'w', qwf.now(), qwf.now(), 'error'
from qwf.jobs j cross join generate_series(1, 41) a
where j.node_idx in (0, 100);
select results_eq($$
  select idx, attempts, array_length(at_once, 1) from qwf.run_timeline
  where attempts > 0 order by idx
$$, $$ values (0, 41::bigint, 200), (100, 41, null) $$,
  'shapes of thousands of nodes would take seconds');

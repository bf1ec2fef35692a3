-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('w');
create temp table claimed as select c.job_id, c.token, c.node_id
from qwf.register_worker('box', 'cpu') w (id) cross join lateral qwf.claim('cpu', w.id, 2) c;
select qwf.progress(c.job_id, c.token, 0.5, 'half') from claimed c;
select qwf.finish(c.job_id, c.token, 'completed') from claimed c where c.node_id = 's/a';
select is((n ->> 'progress')::real, case n ->> 'node_id' when 's/a' then 1 else 0.5 end::real,
  n ->> 'node_id')
from qwf.run_status(qwf_test.run()) s cross join lateral jsonb_array_elements(s -> 'nodes') n;

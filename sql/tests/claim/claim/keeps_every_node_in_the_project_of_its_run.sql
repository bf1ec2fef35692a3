-- 4 tests
select qwf_test.workflow('w', '[
  {"id": "list"},
  {"id": "each", "depends_on": ["list"], "map": [1, 2], "inputs": {"x": {"$from": "item"}}},
  {"id": "last", "depends_on": ["each"]}]');
create temp table worker as
select p.project, qwf.register_worker('box', 'cpu', jsonb_build_object('project', p.project)) as id
from (values ('red'), ('blue')) p (project);
select qwf.enqueue_run('w', project => 'red');
create function pg_temp.works(p_project text, p_outcome text default 'completed') returns bigint
language sql
as $$
  select count(qwf.finish(c.job_id, c.token, p_outcome))
  from worker w, qwf.claim('cpu', w.id, 9) c where w.project = p_project
$$;
select is(array[pg_temp.works('blue'), pg_temp.works('red')], '{0,1}', 'a first node');
select is(array[pg_temp.works('blue'), pg_temp.works('red')], '{0,2}', 'elements of a map');
select pg_temp.works('red', 'fatal');
select qwf.retry_run(qwf_test.run());
select is(array[pg_temp.works('blue'), pg_temp.works('red')], '{0,1}', 'what is retried');
select is(qwf_test.run_state(), 'completed', 'one tenant served it all');

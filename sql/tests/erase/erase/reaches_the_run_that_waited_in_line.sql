-- 9 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_limit('person', 1, keyed => true);
create temp table run as
select n, qwf.enqueue_run('w', ('{"x": "anna' || n || '"}')::jsonb, limit_by => 'person:anna',
  labels => '{"person": "anna"}') as id
from generate_series(1, 2) n;
select throws_ok($$ select qwf.erase('{"label": {"person": "anna"}}') $$, 'QW002', null,
  'a run in line has not ended');
select qwf.cancel_run(id) from run order by n desc;
select is((select count(*) from qwf.jobs j join run on run.id = j.run_id where n = 2), 0::bigint,
  'one was cancelled in line: it has no nodes');
select is((select count(*) from qwf.erase('{"label": {"person": "anna"}}')), 3::bigint,
  'the node, and the two jobs in line');
select is_empty($$ select from qwf.runs r where r::text like '%anna%' $$, 'the runs');
select is_empty($$ select from qwf.jobs j where j::text like '%anna%' $$, 'and the jobs');
select throws_ok(format('select qwf.retry_run(%s)', id), 'QW002', 'erased', 'nobody retries it')
from run where n = 2;

create temp table one as
select qwf.enqueue_run('w', '{"x": "bob"}', limit_by => 'person:bob') as id;
select qwf.cancel_run(id) from one;
select ok((select count(*) from one, qwf.erase(jsonb_build_object('ids', jsonb_build_array((
  select j.id from qwf.jobs j where j.run_id = one.id))))) = 2, 'by a node of the run');
select is_empty($$ select from qwf.jobs j where j::text like '%bob%' $$, 'also its place in line');
select is_empty('select * from qwf.check_invariants()', 'invariants');

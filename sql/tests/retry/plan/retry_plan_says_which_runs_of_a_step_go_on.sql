-- 6 tests
-- A run that failed goes on; one that completed is reused, or is new if its element is named.
create function pg_temp.because(p_run bigint, p_from text default null) returns text
language sql as $$
  select p.because from qwf.retry_plan(p_run, p_from) p where p.node_id = 'each' $$;

select qwf_test.register_album();
create temp table run as
select qwf.enqueue_run('album', '{"list": ["p", "q", "r", "s", "t"]}') as id;
select qwf_test.works(2);
select qwf_test.works(9, '%"r"%');
select is(pg_temp.because(id), 'it failed; 2 runs reused, 2 go on, 1 new',
  'the crop of r failed, s was stopped, and t never began') from run;
select is(pg_temp.because(id, 'each[0]'),
  'its element each[0] was named; 1 run reused, 2 go on, 2 new',
  'an element that is named gets a new run') from run;
select qwf.retry_run(id) from run;
select is(qwf_test.works(9), 'crop:ok write:ok write:ok crop:ok write:ok sum:ok',
  'it does as planned');
select is((select count(*) from qwf.runs where depth = 1), 5::bigint, 'no run is made twice');

-- a step that is no map
select qwf.register_workflow('{"name": "once", "steps": [
  {"id": "each", "kind": "workflow", "workflow": "one", "inputs": {"x": {"$value": "q"}}}]}');
create temp table once as select qwf.enqueue_run('once') as id;
select qwf_test.works(1);
select qwf_test.works(1, '%"q"%');
select is(pg_temp.because(once.id), format('it failed; run %s goes on', child.id),
  'its run goes on')
from once, (select max(id) as id from qwf.runs where depth = 1) child;
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

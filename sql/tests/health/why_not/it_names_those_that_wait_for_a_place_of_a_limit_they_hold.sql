-- 4 tests
select qwf.create_queue('k'), qwf.create_limit('one', 1);
select qwf.register_workflow('{"name": "inner", "steps": [
  {"id": "a", "node": "a", "queue": "k"}]}');
select qwf.enqueue_run('inner', limit_by => 'one');
select is((select count(*) from qwf.why_not((select j.id from qwf.jobs j where j.node_id = 'a')) w
  where w like '%wait for a place of it%'), 0::bigint, 'an ordinary run in line');
update qwf.jobs set limit_by = 'one' where node_id = 'a';  -- as before it was refused
select qwf.enqueue('t', queue => 'k', limit_by => 'one');
create temp table said as
select format('all that hold limit one wait for a place of it: '
  'job %s waits for its own job %s', min(j.id), max(j.id)) as it
from qwf.jobs j where j.run_id is not null or j.queue = 'qwf.runs';
select ok(it in (select qwf.why_not(j.id) from qwf.jobs j where j.node_id = 'a'),
  'why_not of the node')
from said;
select ok(it in (select qwf.why_not(j.id) from qwf.jobs j where j.task = 't'),
  'and of an innocent one')
from said;
select is((select says from qwf.doctor() where subject = 'limit one'), it, 'and doctor')
from said;

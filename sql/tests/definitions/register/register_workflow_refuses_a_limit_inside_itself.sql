-- 12 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.create_queue('k'), qwf.create_limit('one', 1), qwf.create_limit('other', 1),
  qwf.create_limit('customer', 1, keyed => true);
create function pg_temp.registers(p_name text, p_workflow text, p_limit text) returns text
language sql as $$
  select format('select qwf.register_workflow(%L)', jsonb_build_object('name', p_name, 'steps',
    jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('id', 's', 'kind', 'workflow',
      'workflow', p_workflow, 'limit_by', p_limit)))))
$$;
create function pg_temp.changes(p_job bigint, p_limit text) returns text
language sql as $$ select format('select qwf.change_job(%s, limit_by => %L)', p_job, p_limit) $$;

select qwf.register_workflow('{"name": "inner", "steps": [
  {"id": "a", "node": "a", "queue": "k", "limit_by": "one"}]}');
select throws_ok(pg_temp.registers('outer', 'inner', 'one'), 'QW003', null,
  'a step that holds the limit its run needs');
select lives_ok(pg_temp.registers('middle', 'inner', 'other'), 'another limit is fine');
select qwf_test.explains(pg_temp.registers('outer', 'middle', 'one'),
  '%limit "one" is inside itself: node a of workflow inner needs it, too%', 'two levels below');
select lives_ok(pg_temp.registers('outer', 'middle', null));

select throws_ok($$ select qwf.enqueue_run('inner', limit_by => 'one') $$, 'QW005');
select qwf_test.explains($$ select qwf.enqueue_run('outer', limit_by => 'one') $$,
  'node a of workflow inner needs limit one, of which the run would hold a place until it ends',
  'the path of the node is named');
select throws_ok($$ select qwf.enqueue_run('outer', limit_by => 'other') $$, 'QW005');
select throws_ok($$ select qwf.create_schedule(
  's', workflow => 'outer', every => '1 h', options => '{"limit_by": "one"}') $$, 'QW005');
select lives_ok($$
  select qwf.enqueue_run('inner', limit_by => 'other', run_at => qwf.now() + interval '1 h') $$);
select throws_ok(pg_temp.changes(j.id, 'one'), 'QW005', null, 'nor is it given one later')
from qwf.jobs j where j.queue = 'qwf.runs';

select qwf.enqueue_run('middle');
select throws_ok(pg_temp.changes(j.id, 'other'), 'QW005', null,
  'nor a node the limit of a step above')
from qwf.jobs j where j.node_id = 'a' and j.status = 'queued';
select lives_ok(pg_temp.changes(j.id, 'customer:acme'))
from qwf.jobs j where j.node_id = 'a' and j.status = 'queued';

begin;
select plan(12);

select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.create_queue('k'), qwf.create_limit('one', 1), qwf.create_limit('other', 1),
  qwf.create_limit('customer', 1, keyed => true);
create function pg_temp.registers(p_name text, p_step jsonb) returns int language sql as $$
  select qwf.register_workflow(jsonb_build_object('name', p_name, 'steps', jsonb_build_array(p_step))) $$;

select pg_temp.registers('inner', '{"id": "a", "node": "a", "queue": "k", "limit_by": "one"}');
select throws_like($$ select pg_temp.registers('outer', '{"id": "s", "kind": "workflow", "workflow": "inner", "limit_by": "one"}') $$,
  'invalid workflow definition', 'a step that holds the limit its run needs');
select lives_ok($$ select pg_temp.registers('middle', '{"id": "s", "kind": "workflow", "workflow": "inner", "limit_by": "other"}') $$,
  'another limit is fine');
select qwf_test.explains(
  $$ select pg_temp.registers('outer', '{"id": "t", "kind": "workflow", "workflow": "middle", "limit_by": "one"}') $$,
  '%limit "one" is inside itself: node a of workflow inner needs it, too%', 'two levels below, too');
select lives_ok($$ select pg_temp.registers('outer', '{"id": "t", "kind": "workflow", "workflow": "middle"}') $$);

select throws_ok($$ select qwf.enqueue_run('inner', limit_by => 'one') $$, 'QW005');
select qwf_test.explains($$ select qwf.enqueue_run('outer', limit_by => 'one') $$,
  'node a of workflow inner needs limit one, of which the run would hold a place until it ends',
  'the path of the node is named');
select throws_ok($$ select qwf.enqueue_run('outer', limit_by => 'other') $$, 'QW005');
select throws_ok($$ select qwf.create_schedule('s', workflow => 'outer', every => '1 h', options => '{"limit_by": "one"}') $$,
  'QW005');
select lives_ok($$ select qwf.enqueue_run('inner', limit_by => 'other', run_at => qwf.now() + interval '1 h') $$);
select throws_ok($$ select qwf.change_job(j.id, limit_by => 'one') from qwf.jobs j where j.queue = 'qwf.runs' $$, 'QW005',
  null, 'nor is it given one later');

select qwf.enqueue_run('middle');
select throws_ok($$ select qwf.change_job(j.id, limit_by => 'other') from qwf.jobs j where j.node_id = 'a' and j.status = 'queued' $$,
  'QW005', null, 'nor a node the limit of a step above');
select lives_ok($$ select qwf.change_job(j.id, limit_by => 'customer:acme') from qwf.jobs j where j.node_id = 'a' and j.status = 'queued' $$);

select * from finish();
rollback;

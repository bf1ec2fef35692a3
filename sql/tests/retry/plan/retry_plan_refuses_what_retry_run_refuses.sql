-- 17 tests
-- Both say the same, and nothing is written.
create function pg_temp.both(p_args text, p_code text, p_message text, p_detail text)
returns setof text language plpgsql as $$
declare
  v_call text;
begin
  foreach v_call in array array['retry_plan', 'retry_run'] loop
    v_call := format('select count(*) from qwf.%s(%s)', v_call, p_args);
    return next throws_ok(v_call, p_code, p_message, v_call);
    return next qwf_test.explains(v_call, p_detail, p_detail);
  end loop;
end $$;

select pg_temp.both('4711', 'QW001', 'no such run', 'run 4711');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"],
  "inputs": {"x": {"$from": "x"}}}]');
select qwf.enqueue_run('w', '{"x": 1}');
create temp table run as select qwf_test.run() as id;
select pg_temp.both('(select id from run)', 'QW002', 'the run is not over', 'run % is queued');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select pg_temp.both('(select id from run), context => ''[1]''', 'QW005', 'invalid context',
  'context: a JSON object, not array');
select qwf.register_pipeline('{"name": "w", "nodes": [
  {"id": "c", "inputs": {"y": {"$from": "y"}}}]}');
select throws_like(
  $$ select qwf.retry_run(id, 's/a', true) from run $$, 'no such node', 'the node is gone');
select throws_like(
  $$ select qwf.retry_run(id, latest => true) from run $$,
  'the context does not fit the workflow', 'the new definition needs y');
select is((select array_agg(verdict order by node_id) from run, qwf.retry_plan(
  id, latest => true, context => '{"y": 2}')), array['removed', 'removed', 'new'],
  'with y it does');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled', 'nothing was written');
select results_eq('select context, workflow_version from qwf.runs',
  $$ values ('{"x": 1}'::jsonb, 1) $$, 'neither to the run');

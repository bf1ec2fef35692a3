begin;
select plan(5);

select qwf_test.workflow('w', '[{"id": "gen", "inputs": {"prompt": {"$from": "prompt"}}},
  {"id": "other"}]');
select qwf.register_workflow('{"name": "v", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "w"},
  {"id": "ask", "kind": "input", "widget": "confirm", "depends_on": ["s"]}]}');
select qwf.enqueue_run('v', '{"prompt": "a dog"}');
select qwf_test.attempt(n) from unnest(array['s/gen', 's/other']) n;
create function pg_temp.hint() returns text language plpgsql as $$
declare v_hint text; begin
  perform qwf.retry_run(qwf_test.run(), 's/gen');
  return null;
exception when sqlstate 'QW002' then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint; end $$;
select is(pg_temp.hint(),
  'cancel it first: the retry reuses what is right, and asks its questions again',
  'the picture is bad, and a person is being asked');
select qwf.cancel_run(qwf_test.run());
select qwf.retry_run(qwf_test.run(), 's/gen', context => '{"prompt": "a cat"}');
select results_eq($$ select node_id, status::text from qwf.jobs order by node_idx $$, $$ values
  ('s/gen', 'queued'), ('s/other', 'completed'), ('ask', 'blocked') $$, 'what is right is reused');
select is((select c.inputs from qwf.claim(
  (select j.queue from qwf.jobs j where j.node_id = 's/gen'), 'w') c), '{"prompt": "a cat"}',
  'the node runs again with the new value');
select qwf_test.report('s/gen');
select is((select status::text from qwf.runs), 'awaiting_input', 'the question is asked again');
select qwf.submit_input(qwf_test.run(), 'ask', 'true');
select is((select status::text from qwf.runs), 'completed', 'and ends the run');

select * from finish();
rollback;

-- 22 tests
create function pg_temp.define(p_amount int) returns void language sql as $$
  select qwf.register_workflow(jsonb_build_object('name', 'order', 'steps', jsonb_build_array(
    jsonb_build_object('id', 'charge', 'node', 'charge', 'inputs', jsonb_build_object(
      'amount', p_amount, 'day', '{"$from": "day"}'::jsonb)),
    '{"id": "refund", "node": "refund", "compensates": ["charge"]}'::jsonb,
    '{"id": "parts", "node": "part", "map": [1, 2], "depends_on": ["charge"]}'::jsonb,
    '{"id": "tidy", "node": "tidy", "depends_on": ["parts"], "run_if": "all_done"}'::jsonb)));
$$;
create function pg_temp.works(p_fails text default null) returns void language plpgsql as $$
declare
  v_job record;
begin
  for v_round in 1..4 loop
    for v_job in select * from qwf.claim('cpu', 'w', 9) loop
      perform qwf.finish(v_job.job_id, v_job.token,
        case when v_job.task = p_fails then 'fatal' else 'completed' end, error => 'boom');
    end loop;
  end loop;
end $$;
create function pg_temp.healthy(p_what text) returns text language sql as $$
  select is_empty('select * from qwf.check_invariants()', p_what) $$;

select pg_temp.define(1);
select qwf_test.workflow('hold', '[{"id": "a"}]');
select qwf.create_limit('line', 1);
create temp table run as
select qwf.enqueue_run('order', '{"day": "mon"}', limit_by => 'line') as id;
select pg_temp.works();
create function pg_temp.nodes() returns text language sql as $$
  select string_agg(coalesce(j.node_id, '') || ' ' || j.status, ', ' order by j.id)
  from qwf.jobs j join run on run.id = j.run_id $$;
create temp table other as select qwf.enqueue_run('hold', limit_by => 'line') as id;
create temp table was as select j.id, j::text as row from qwf.jobs j join run on run.id = j.run_id;
select pg_temp.define(2);
select is(qwf.retry_run(id, 'charge', latest => true, context => '{"day": "tue"}',
    completed => 'keep'), 3,
  'it is to run again as a whole, with another definition and context') from run;
select results_eq($$ select r.status::text, r.context ->> 'day', r.workflow_version, r.open_nodes
  from qwf.runs r join run on run.id = r.id $$, $$ values ('queued', 'mon', 1, 0) $$,
  'but another run has the place');
select results_eq($$ select j.id, j::text from qwf.jobs j join run on run.id = j.run_id
  order by 1 $$, 'select * from was order by 1', 'so all its nodes stay as they are');
select pg_temp.healthy('and the database is healthy');
select throws_ok($$ select qwf.retry_run(id) from run $$, 'QW002', 'the run is not over',
  'a second retry is refused');
select throws_ok(format('select * from qwf.erase(%L)', jsonb_build_object('ids',
  jsonb_build_array(r.parent_id))), 'QW002', null, 'and so is erasing it')
from qwf.runs r join run using (id);
select throws_ok($$ select qwf.drop_limit('line') $$, 'QW002', null, 'and dropping its limit');
select qwf_test.travel('1 year');
select qwf.prune();
select pg_temp.healthy('pruning leaves it');

select qwf.cancel_run(id) from other;
select is(pg_temp.nodes(), 'charge queued, parts blocked, tidy blocked, refund skipped',
  'when it is served, its nodes begin again');
select results_eq($$ select j.inputs, j.resolved_inputs from qwf.jobs j
  join qwf.runs r on r.parent_id = j.id join run on run.id = r.id $$,
  $$ select '{}'::jsonb, jsonb_build_object('from_node', 'charge', 'graph_id', r.graph_id,
    'context', r.context)
    from qwf.runs r join run on run.id = r.id $$, 'by what was asked for');
select is((select inputs from qwf.claim('cpu', 'w')), '{"amount": 2, "day": "tue"}',
  'with the new definition and context');
select pg_temp.healthy('and the database is healthy');
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.token is not null
  and j.queue = 'cpu';
select pg_temp.works();
select is(r.status::text, 'completed', 'it completes') from qwf.runs r join run using (id);
select pg_temp.healthy('its job in line has completed twice, and the database is healthy');

-- retry, then cancel while it waits; then retry once more
select qwf.enqueue_run('hold', limit_by => 'line');
select qwf.retry_run(id, 'tidy', context => '{"day": "wed"}', completed => 'keep') from run;
select qwf.cancel_run(id) from run;
select pg_temp.works();
select pg_temp.works();
select results_eq($$ select r.status::text, r.context ->> 'day' from qwf.runs r
  join run on run.id = r.id $$, $$ values ('cancelled', 'tue') $$,
  'cancelled before it was served, it never had the new context');
select is((select array_agg(verdict || ' ' || node_id order by node_id) from run,
  qwf.retry_plan(run.id)), array['runs again charge', 'runs again parts', 'skipped refund',
  'runs again tidy'], 'and what it did was taken back');
select qwf.retry_run(id) from run;
select pg_temp.works('part');
select is(r.status::text, 'failed', 'a map of it fails') from qwf.runs r join run using (id);
select is((select status::text from qwf.jobs join run on run.id = run_id where node_id = 'refund'),
  'completed', 'so the charge is taken back');

select qwf.enqueue_run('hold', limit_by => 'line');
select qwf.retry_run(id) from run;
select matches(pg_temp.nodes(), 'charge completed, .*refund completed',
  'it waits once more, and so does what it takes back');
select pg_temp.healthy('and the database is healthy');
select is(qwf.cancel_run(id), true, 'it is cancelled') from run;
select is(r.status::text, 'cancelled', 'at once: nothing is left to take back')
from qwf.runs r join run using (id);

-- 27 tests
select qwf.register_workflow('{"name": "etl", "inputs": {"properties": {
  "day": {"type": "string", "default": "today"}}}, "deadline": "1 hour", "steps": [
  {"id": "a", "node": "a"},
  {"id": "b", "node": "b", "depends_on": ["a"], "inputs": {"day": {"$from": "day"}}}]}');
select qwf.create_limit('etl', 1);
create function pg_temp.runs() returns setof text language sql
as $$ select r.key || ' ' || r.status || ' ' || (select count(*)
  from qwf.jobs j where j.run_id = r.id)
  from qwf.runs r order by r.id $$;
create temp table run as
  select k, qwf.enqueue_run('etl', limit_by => 'etl', key => k, max_attempts => n, backoff => '[0]')
    as id
  from (values ('one', null::int), ('two', 2), ('three', null)) v (k, n);
select results_eq('select pg_temp.runs()', array['one queued 2', 'two queued 0', 'three queued 0'],
  'one of them starts at once, the others wait and have no nodes');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is(qwf.enqueue_run('etl', limit_by => 'etl', key => 'two'), id,
  'the key is the key of the run')
from run where k = 'two';
select ok((select deadline_at from qwf.runs where key = 'one') is not null
  and (select deadline_at from qwf.runs where key = 'two') is null,
    'a deadline begins with the run');
select matches(string_agg(w, ' '), 'limit etl is full', 'why says what it waits for')
from run join qwf.runs r on r.id = run.id and k = 'two', qwf.why_not(r.parent_id) w;
select is(qwf_test.works(2), 'a:ok b:ok', 'the first run');
select results_eq('select pg_temp.runs()', array['one completed 2', 'two queued 2',
  'three queued 0'],
  'its end starts the second');
select is((select resolved_inputs from qwf.jobs where node_id = 'b' and status = 'completed'),
  '{"day": "today"}', 'the context has the defaults of the inputs');

select is(qwf_test.works(1, '%'), 'a:ok', 'the second run fails');
select results_eq('select pg_temp.runs()', array['one completed 2', 'two queued 2',
  'three queued 2'],
  'it is queued for its second try, behind the third, which starts');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select results_eq($$ select kind, detail ->> 'status' from _qwf.event_log
  where run_id = (select id from run where k = 'two') order by id $$, $$ values
  ('retried', 'failed') $$, 'the event is no end');
select is(qwf_test.works(2), 'a:ok b:ok', 'the third run');
select is(qwf_test.works(1, '%'), 'a:ok', 'the second fails once more');
select results_eq('select pg_temp.runs()', array['one completed 2', 'two failed 2',
  'three completed 2'],
  'that was its last try');
select results_eq($$ select try, status from qwf.run_tries t join run on run.id = t.run_id
  where k = 'two' order by 1 $$, $$ values (1::bigint, 'failed'), (2, 'failed') $$,
  'both tries are kept');
select is_empty($$ select from _qwf.event_log where kind = 'job_failed' $$,
  'the engine''s own job tells nothing');

select is(qwf.retry_run(id), 2, 'a retry') from run where k = 'two';
select is((select parent_attempt from qwf.runs where key = 'two'), 3, 'runs through the line');
select is(qwf_test.works(1, '%'), 'a:ok', 'with all its tries');
select is((select status::text from qwf.runs where key = 'two'), 'queued', 'again');
select qwf.cancel_run(id) from run where k = 'two';
select qwf.enqueue_run('etl', limit_by => 'etl', key => 'four');
insert into run select 'five', qwf.enqueue_run('etl', limit_by => 'etl', key => 'five');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is(qwf.cancel_run(id), true, 'a run in line is cancelled') from run where k = 'five';
select is((select j.status::text from qwf.jobs j join qwf.runs r on r.parent_id = j.id
  where r.key = 'five'), 'cancelled', 'and leaves the line');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select throws_ok(format('select qwf.enqueue_run(''etl'', %s)', v.given), v.code, null, v.given)
from (values ('limit_by => ''nix''', 'QW001'), ('max_attempts => 0', 'QW005')) v (given, code);

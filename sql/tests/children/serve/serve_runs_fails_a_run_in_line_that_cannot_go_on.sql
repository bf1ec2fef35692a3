-- 5 tests
-- Its compensation node failed, so it is not known what was taken back.
select qwf.register_workflow('{"name": "order", "steps": [
  {"id": "charge", "node": "charge"},
  {"id": "refund", "node": "refund", "compensates": ["charge"]},
  {"id": "ship", "node": "ship", "depends_on": ["charge"]}]}');
create temp table run as select qwf.enqueue_run('order', max_attempts => 5, backoff => '[0]') as id;
select qwf.finish(job_id, token, 'completed', '{}') from qwf.claim('cpu', 'w');
select qwf.finish(job_id, token, 'fatal', error => 'no parcel') from qwf.claim('cpu', 'w');
select qwf.finish(job_id, token, 'fatal', error => 'no bank') from qwf.claim('cpu', 'w');
select results_eq($$ select r.status::text, j.status::text, r.error like 'QW002%'
  from qwf.runs r join qwf.jobs j on j.id = r.parent_id $$, $$ values ('failed', 'failed', true) $$,
  'it fails, and so does its place in line');
select results_eq($$ select status, error like 'QW002%' from qwf.run_tries order by try $$,
  $$ values ('failed', false), ('failed', true) $$, 'each try has its end');
select is((select count(*) from _qwf.event_log where kind = 'run_ended'), 1::bigint,
  'its end is told once');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select throws_ok($$ select qwf.retry_run(id) from run $$, 'QW002', null, 'a person has to decide');

begin;
select plan(3);

select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select is(qwf.result(qwf_test.job('a')) - 'job_id',
  '{"state": "queued", "output": null, "error": null}', 'nothing yet');
select qwf_test.attempt('a', output => '{"n": 1}'), qwf_test.attempt('b', 'fatal', error => 'boom');
select is(qwf.result(qwf_test.job('a')) - 'job_id',
  '{"state": "completed", "output": {"n": 1}, "error": null}',
  'what it returned');
select is(qwf.result(qwf_test.job('b')) - 'job_id',
  '{"state": "failed", "output": null, "error": "boom"}', 'or why not');

select * from finish();
rollback;

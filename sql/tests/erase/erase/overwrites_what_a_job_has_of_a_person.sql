-- 12 tests
select qwf.create_limit('mail', 5);
select qwf.enqueue('a', '{"to": "anna"}', key => 'anna', labels => '{"person": "42"}',
  limit_by => 'mail', once => true),
  qwf.enqueue('b', '{"to": "bob"}', labels => '{"person": "43"}');
select qwf_test.claim('default', 2);
select qwf_test.report('a', 'fatal'), qwf_test.report('b', 'fatal');
update qwf.job_attempts set log_tail = 'anna', detail = detail || '{"exit_code": 3, "x": "anna"}';

select results_eq($$ select job_id, run_id, host, path
  from qwf.erase('{"label": {"person": "42"}}', dry_run => true) $$,
  format('values (%s::bigint, null::bigint, null::text, null::text)', qwf_test.job('a')),
  'a dry run returns what would be erased');
select is((select inputs from qwf.jobs where task = 'a'), '{"to": "anna"}', 'and changes nothing');
select results_eq($$ select job_id from qwf.erase('{"label": {"person": "42"}}') $$,
  format('values (%s::bigint)', qwf_test.job('a')), 'the job is erased');
select is((select array_agg(k) from qwf.jobs, jsonb_object_keys(inputs) k where task = 'a'),
  '{$erased}', 'its arguments are overwritten with the mark');
select ok(key is null and not once and key_state = 'u' and limit_by is null
  and labels ? '$erased' and last_error like '%$erased%' and finished_at is not null
  and status = 'failed' and attempt = 1 and failures = 1, 'the rest too, and counts stay')
from qwf.jobs where task = 'a';
select ok(log_tail like '%$erased%' and detail ? '$erased' and detail @> '{"exit_code": 3}'
  and not detail ? 'x' and outcome = 'fatal', 'so are its attempts, but for numbers')
from qwf.job_attempts where job_id = qwf_test.job('a');
select is((select inputs from qwf.jobs where task = 'b'), '{"to": "bob"}', 'others keep theirs');
select is((select detail - 'parts' from qwf.event_overview where kind = 'erased'),
  '{"jobs": 1, "runs": 0}', 'an event says how many');
select is_empty($$ select * from qwf.erase('{"label": {"person": "42"}}') $$,
  'nothing is left to erase');
select is_empty(format($$ select * from qwf.erase('{"ids": [%s]}') $$, qwf_test.job('a')),
  'also not for who names the job');
select lives_ok($$ select qwf.enqueue('a', key => 'anna', once => true) $$,
  'its key is free again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

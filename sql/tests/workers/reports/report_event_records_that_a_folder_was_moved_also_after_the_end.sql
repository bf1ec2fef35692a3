-- 7 tests
select qwf.enqueue('a');
create temp table claimed as select * from qwf.claim('default', 'w');
create function pg_temp.report(p_token uuid) returns boolean language sql as
  $$ select qwf.report_event(qwf_test.job('a'), p_token, 'folder_moved',
    '{"moved_to": "/x", "worker": "another", "attempt": 9}') $$;
select ok(not pg_temp.report(gen_random_uuid()), 'a stale token');
select is_empty($$ select from _qwf.event_log where kind = 'folder_moved' $$, 'writes nothing');
select ok(pg_temp.report(token), 'while it runs') from claimed;
select qwf.finish(job_id, token, 'completed') from claimed;
select ok(pg_temp.report(token), 'and when it has just ended') from claimed;
select results_eq(
  $$ select login, detail from _qwf.event_log where kind = 'folder_moved' $$,
  $$ values (qwf_test.login(), '{"attempt": 1, "worker": "w", "moved_to": "/x"}'::jsonb),
    (qwf_test.login(), '{"attempt": 1, "worker": "w", "moved_to": "/x"}') $$, 'events');

select qwf.enqueue('b', max_attempts => 2);
create temp table lost as select * from qwf.claim('default', 'w');
select qwf.finish(job_id, token, 'error', error => 'no luck') from lost;
select qwf_test.travel('1 hour'), _qwf.promote_due();
select isnt_empty($$ select from qwf.claim('default', 'w2') $$, 'another worker has it');
select qwf.report_event(job_id, token, 'folder_moved', '{}') from lost;
select is(detail, '{"attempt": 1, "worker": "w"}', 'of the worker that had it')
from _qwf.event_log where job_id = qwf_test.job('b') and kind = 'folder_moved';

begin;
select plan(5);

select qwf.enqueue('a');
create temp table claimed as select * from qwf.claim('default', 'w');
create function pg_temp.report(p_token uuid) returns boolean language sql as
  $$ select qwf.report_event(qwf_test.job('a'), p_token, 'folder_moved',
    '{"moved_to": "/x"}') $$;
select ok(not pg_temp.report(gen_random_uuid()), 'a stale token');
select is_empty($$ select from _qwf.event_log where kind = 'folder_moved' $$, 'writes nothing');
select ok(pg_temp.report(token), 'while it runs') from claimed;
select qwf.finish(job_id, token, 'completed') from claimed;
select ok(pg_temp.report(token), 'and when it has just ended') from claimed;
select results_eq(
  $$ select login, detail from _qwf.event_log where kind = 'folder_moved' $$,
  $$ values (qwf_test.login(), '{"attempt": 1, "worker": "w", "moved_to": "/x"}'::jsonb),
    (qwf_test.login(), '{"attempt": 1, "worker": "w", "moved_to": "/x"}') $$, 'events');

select * from finish();
rollback;

-- 2 tests
select qwf.pause_queue('gpu'), qwf.pause_queue('gpu'), qwf.resume_queue('gpu'),
  qwf.resume_queue('gpu');
select results_eq($$ select kind, subject, login, detail from qwf.audit order by id $$, $$ values
  ('queue_changed', 'gpu', qwf_test.login(),
    '{"old": {"paused": false}, "new": {"paused": true}}'::jsonb),
  ('queue_changed', 'gpu', qwf_test.login(), '{"old": {"paused": true}, "new": {"paused": false}}')
$$, 'who paused it, and who resumed it; a second call changes nothing');
select throws_ok($$ select qwf.pause_queue('nowhere') $$, 'QW006', null, 'a refusal leaves none');

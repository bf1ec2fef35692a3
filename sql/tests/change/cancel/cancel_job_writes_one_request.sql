-- 4 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.cancel_job(qwf_test.job('a'), 'first'), 'requested', 'once');
select is(qwf.cancel_job(qwf_test.job('a'), 'second'), 'requested', 'twice');
select results_eq('select reason from qwf.cancel_requests', array['first'], 'is one request');
select results_eq($$ select detail ->> 'reason' from _qwf.event_log $$, array['first'],
  'and one event');

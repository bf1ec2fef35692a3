-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.question('confirm', '{"expires": "2 hours", "default": true}');
select results_eq('select asks, expires_at from qwf.pending_inputs',
  $$ values ('input', '2030-01-01 02:00'::timestamptz) $$, 'then its default is taken');
select qwf.enqueue('mail', on_failure => 'ask', expires => '1 h');
select qwf_test.attempt('mail', 'fatal');
select is((select expires_at from qwf.pending_inputs where task = 'mail'), null,
  'a job that has failed was started in time');

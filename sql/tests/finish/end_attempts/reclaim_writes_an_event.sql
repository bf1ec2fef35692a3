-- 2 tests
select qwf_test.set_now('2030-01-01 12:00Z');
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf_test.lapse('a');
select results_eq($$
  select outcome, reason, worker, error ~ 'lease of worker w lapsed at 2030'
  from qwf.attempt_overview
$$, $$
  values ('lost', 'lease_lapsed', 'w', true) $$, 'the attempt says why it ended');
select results_eq($$ select kind, login, detail ->> 'worker', job_id from _qwf.event_log $$, $$
  values ('reclaimed', qwf_test.login(), 'w', qwf_test.job('a')) $$,
  'an unusual event: who took it back, and from whom');

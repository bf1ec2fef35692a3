-- 2 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'cancelled', error => 'told to stop');
select results_eq('select status::text, failures, losses from qwf.jobs', $$
  values ('cancelled', 0, 0) $$, 'ended');
select results_eq('select kind, login, detail ->> ''worker'' from _qwf.event_log',
  $$ values ('cancelled', qwf_test.login(), 'w') $$,
  'and its worker is notified');

-- 3 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table old as select qwf_test.token('a') as token;
select qwf_test.lapse('a');
select is((select verdict from qwf.heartbeat('w', array[(select token from old)])), 'lost',
  'it was reclaimed');
select qwf_test.claim('default');
create temp table lease as select lease_expires_at from qwf.jobs;
select qwf_test.travel('5 s');
select is((select verdict from qwf.heartbeat('w', array[(select token from old)])), 'lost',
  'and claimed again');
select results_eq('select lease_expires_at from qwf.jobs', 'select lease_expires_at from lease',
  'an old token renews nothing');

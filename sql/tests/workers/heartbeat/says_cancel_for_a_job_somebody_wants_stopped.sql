-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'));
select qwf_test.travel('10 s');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('a')])), 'cancel',
  'stop the body');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('a')])), 'cancel',
  'and again until it stops');
select is((select lease_expires_at from qwf.jobs), '2030-01-01 00:00:30',
  'not renewed: a worker that ignores the order loses the job');

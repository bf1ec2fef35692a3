-- 6 tests
select qwf.enqueue('mail', '{}', key => 'k');
select throws_ok($$ select qwf.enqueue('mail', key => 'k', key_mode => 'refuse') $$, 'QW008',
  'key is taken', 'while a job waits');
select qwf_test.claim('default');
select throws_ok($$ select qwf.enqueue('mail', key => 'k', key_mode => 'refuse') $$, 'QW008',
  'key is taken', 'while it runs');
select qwf_test.explains($$ select qwf.enqueue('mail', key => 'k', key_mode => 'refuse') $$,
  'job % (running) has key "k"', 'it names the job');
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j;
select lives_ok($$ select qwf.enqueue('mail', key => 'k', key_mode => 'refuse') $$,
  'not when it has ended');
select qwf.enqueue('once', key => 'k', once => true);
select throws_ok($$ select qwf.enqueue('once', '{"n": 1}', key => 'k', key_mode => 'replace') $$,
  'QW008', 'key is taken', 'a job that was enqueued once is not replaced');
select throws_ok($$ select qwf.enqueue('mail', key_mode => 'keep') $$, 'QW005', 'invalid job',
  'a mode needs a key');

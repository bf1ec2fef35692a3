-- 6 tests
select qwf.enqueue('mail');
select lives_ok($$ select qwf_test.as_role('qwf_worker',
  'select qwf.register_worker(''box'', ''default'')') $$, 'register');
select lives_ok($$ select qwf_test.as_role('qwf_worker', 'select qwf.claim(''default'', ''w'')') $$,
  'claim');
select lives_ok(format($$
  select qwf_test.as_role('qwf_worker',
    'select qwf.heartbeat(''w'', array[''%s''::uuid]), qwf.progress(%s, ''%s'', 0.5)')
$$, qwf_test.token('mail'), qwf_test.job('mail'), qwf_test.token('mail')),
  'renew and report progress');
select lives_ok(format($$
  select qwf_test.as_role('qwf_worker', 'select qwf.finish(%s, ''%s'', ''completed'')')
$$, qwf_test.job('mail'), qwf_test.token('mail')), 'finish');
select is(qwf_test.state('mail'), 'completed', 'with the rights of the engine');
select lives_ok($$ select qwf_test.as_role('qwf_worker',
  'select qwf.tick(), qwf.sleep(''w'', ''cpu''), qwf.wake(''w'')') $$,
  'tick and sleep');

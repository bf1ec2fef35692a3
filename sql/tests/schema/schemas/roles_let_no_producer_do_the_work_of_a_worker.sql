-- 6 tests
select qwf.enqueue('mail');
select throws_ok($$ select qwf_test.as_role('qwf_producer',
  'select qwf.claim(''default'', ''me'')') $$, '42501', null,
  'it cannot claim');
select qwf_test.claim('default');
select throws_ok(format($$
  select qwf_test.as_role('qwf_producer', 'select qwf.finish(%s, ''%s'', ''completed'')')
$$, qwf_test.job('mail'), qwf_test.token('mail')), '42501', null,
  'nor finish, though it knew the token');
select throws_ok(format($$
  select qwf_test.as_role('qwf_producer', 'select qwf.finish_many(''[{"job_id": %s}]'')')
$$, qwf_test.job('mail')), '42501', null, 'not even in a batch');
select throws_ok($$ select qwf_test.as_role('qwf_producer', 'select token from qwf.jobs') $$,
  '42501', null,
  'nor can it read the token');
select throws_ok($$
  select qwf_test.as_role('qwf_producer', 'update qwf.jobs set status = ''completed''')
$$, '42501', null, 'nor write the row');
select is(qwf_test.state('mail'), 'running', 'a producer cannot fake the end of a job');

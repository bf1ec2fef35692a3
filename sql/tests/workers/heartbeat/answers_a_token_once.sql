-- 3 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select results_eq($$
  select verdict from qwf.heartbeat('w', array[qwf_test.token('a'), qwf_test.token('a')])
$$, array['ok'], 'however often it is named');
select is_empty($$ select * from qwf.heartbeat('w') $$, 'no token, no answer');
select is_empty($$ select * from qwf.heartbeat('w', null) $$, 'nor for null');

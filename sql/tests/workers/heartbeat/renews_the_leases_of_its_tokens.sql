-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 3);
select qwf_test.travel('20 s');
select bag_eq($$
  select verdict from qwf.heartbeat('w', array[qwf_test.token('a'), qwf_test.token('b')])
$$, array['ok', 'ok'], 'one answer for each token');
select results_eq($$ select task, lease_expires_at from qwf.jobs order by id $$, $$
  values ('a', '2030-01-01 00:00:50'::timestamptz), ('b', '2030-01-01 00:00:50'),
    ('c', '2030-01-01 00:00:30')
$$, 'those leases and no others');

-- 6 tests
select qwf.create_limit('customer', 2, keyed => true), qwf.create_limit('mail', 2),
  qwf.create_limit('host', 100, 1, '1 h', keyed => true);
select qwf.enqueue('t', limit_by => 'customer:acme') from generate_series(1, 5);
select qwf.enqueue('t', limit_by => 'customer:bob');
select count(*) from qwf.claim('default', 'w', 9);
select results_eq($$
  select key, running, queued, held_back from qwf.busiest_keys('customer')
$$, $$
  values ('customer:acme', 2, 3, '2 of 2 running'), ('customer:bob', 1, 0, null)
$$, 'those with the most jobs first');
select results_eq($$ select key from qwf.busiest_keys('customer', 1) $$,
  $$ values ('customer:acme') $$, 'as many as asked for');
select results_eq($$ select key, queued from qwf.busiest_keys('customer:bob') $$,
  $$ values ('customer:bob', 0) $$, 'or one');
select qwf.enqueue('t', limit_by => 'host:a') from generate_series(1, 2);
select count(*) from qwf.claim('default', 'w', 9);
select results_eq($$
  select running, queued, opens_at > qwf.now(), held_back like 'its rate, until %'
  from qwf.busiest_keys('host')
$$, $$ values (1, 1, true, true) $$, 'and when its rate lets the next one start');
select throws_ok($$ select * from qwf.busiest_keys('nobody') $$, 'QW001');
select throws_ok($$ select * from qwf.busiest_keys('mail') $$, 'QW005');

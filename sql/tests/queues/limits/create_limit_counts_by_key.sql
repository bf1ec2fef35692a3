-- 11 tests
select qwf.create_limit('customer', 2, keyed => true);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'customer:acme') from generate_series(1, 3);
select qwf.enqueue('b', queue => 'cpu', limit_by => 'customer:bob') from generate_series(1, 3);
select is((select count(*) from qwf.claim('cpu', 'w', 9)), 4::bigint, 'two of each key');
select is((select count(*) from qwf.limit_slots where limit_name = 'customer'), 0::bigint,
  'it has no slots');
select results_eq($$
  select running, queued, keys, keyed from qwf.limit_overview where name = 'customer'
$$, $$ values (4::bigint, 2::bigint, 2::bigint, true) $$, 'the overview counts all keys together');
select is_empty($$ select * from qwf.check_invariants() $$);
select matches(string_agg(y::text, '; '), 'customer:acme has 2 of 2 running: job [0-9]+ on w',
  'a job that waits says what for')
from qwf.why_not((select max(id) from qwf.jobs where limit_by = 'customer:acme')) y;
select throws_ok($$ select qwf.drop_limit('customer') $$, 'QW002', 'limit is in use');
select qwf.create_limit('customer', 3);
select is((select count(*) from qwf.claim('cpu', 'w', 9)), 2::bigint, 'it is raised for all keys');
select lives_ok($$ select qwf_test.as_role('qwf_producer', 'select qwf.enqueue(''new'',
  queue => ''cpu'', limit_by => ''customer:new'')') $$, 'a new key needs no administrator');
select is(qwf_test.claim('cpu'), 'claimed new', 'and counts like the others');
select qwf.create_limit('a:b', 1);
select qwf.enqueue('c', queue => 'cpu', limit_by => 'a:b') from generate_series(1, 2);
select is((select count(*) from qwf.claim('cpu', 'w', 9)), 1::bigint,
  'a plain limit with a colon stays plain');
select is((select limit_place from qwf.jobs where limit_by = 'a:b' limit 1), null);

-- 5 tests
create temp table held as select qwf.enqueue('mail', key => 'k') as id;
create temp table made as
select *
from qwf.enqueue_many('[
  {"task": "x", "key": "n"}, {"task": "mail", "key": "k"}, {"task": "x", "key": "n"}, {"task": "x"},
    {"task": "x", "key": "n", "key_mode": "replace"}]')
  with ordinality m (id, merged, kept, run_at, place);
select results_eq('select merged, kept from made order by place', $$
  values (false, 'new'), (true, 'old args'), (true, 'old args'), (false, 'new'),
    (true, 'new args') $$, 'in the order of the items');
select results_eq('select id from made where place = 2', 'select id from held',
  'a key taken before');
select is((select count(distinct id) from made where place in (1, 3, 5)), 1::bigint,
  'a key taken by an earlier item');
select is((select count(*) from qwf.jobs), 3::bigint, 'no other job');
select throws_ok($$ select qwf.enqueue_many('[{"task": "y"},
  {"task": "mail", "key": "k", "key_mode": "refuse"}]') $$, 'QW008', 'key is taken',
  'all or none');

begin;
select plan(4);

create temp table held as select qwf.enqueue('mail', key => 'k') as id;
create temp table made as
select id, place
from qwf.enqueue_many('[
  {"task": "x", "key": "n"}, {"task": "mail", "key": "k"}, {"task": "x", "key": "n"}, {"task": "x"},
    {"task": "x"}]')
  with ordinality m (id, place);
select results_eq('select id from made where place = 2', 'select id from held',
  'a key taken before');
select is((select count(distinct id) from made where place in (1, 3)), 1::bigint,
  'a key taken by an earlier item');
select is((select count(distinct id) from made), 4::bigint,
  'without a key each is a job of its own');
select is((select count(*) from qwf.jobs), 4::bigint, 'no other job');

select * from finish();
rollback;

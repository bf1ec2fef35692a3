-- The expected numbers are those of zlib.
begin;
select plan(4);

select results_eq($$
  select k.key, qwf.cell_for(k.key, 1000)
  from (values ('', 1), ('123456789', 2), ('Zürich', 3), ('鍵', 4), ('order-17', 5))
    k (key, place)
  order by k.place
$$, $$ values ('', 0), ('123456789', 262), ('Zürich', 798), ('鍵', 40), ('order-17', 420) $$,
  'of the key in UTF-8, modulo the cells');
select is(qwf.cell_for('any', 1), 0, 'one cell has all keys');
select is(qwf.cell_for(null, 4), null, 'no key has no cell');
select is(count(distinct qwf.cell_for('order ' || n, 16)), 16::bigint, 'keys spread over all cells')
from generate_series(1, 1000) n;

select * from finish();
rollback;

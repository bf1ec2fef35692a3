begin;
select plan(3);

select lives_ok(
  format($$ select qwf_test.as_role(%L, $q$ select qwf.cell_for('order-17', 4) $q$) $$, r.name),
  r.name)
from unnest(array['qwf_producer', 'qwf_worker', 'qwf_viewer']) r (name);

select * from finish();
rollback;

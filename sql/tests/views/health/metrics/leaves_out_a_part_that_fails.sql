-- 3 tests
drop view qwf.pending_inputs cascade;
create temp table found as select * from qwf.metrics;
select is((select f.value from found f where f.name = 'qwf_unreadable'), 1::float8,
  'a part that fails is counted');
select is_empty(
  $$ select f.name from found f where f.name in ('qwf_runs', 'qwf_pending_inputs') $$,
  'and left out');
select ok(exists (select from found f where f.name = 'qwf_tick_age_seconds'),
  'those after it stay');

-- 3 tests
-- Other tests leave dead rows, which the check names, too.
create function pg_temp.finds() returns setof text language sql as $$
  select d.level || ': ' || d.says || ' -> ' || d.hint
  from qwf.doctor('{vacuum}') d
  where d.says like 'autovacuum is off%'
$$;
select is_empty('select pg_temp.finds()', 'it runs');
alter table qwf.jobs set (autovacuum_enabled = false);
select results_eq('select pg_temp.finds()',
  $$ values ('problem: autovacuum is off for qwf.jobs -> alter table qwf.jobs '
  'reset (autovacuum_enabled);') $$, 'it is switched off for a table');
alter table qwf.jobs reset (autovacuum_enabled);
select is_empty('select pg_temp.finds()', 'that helps');

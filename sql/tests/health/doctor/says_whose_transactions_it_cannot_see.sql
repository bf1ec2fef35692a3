-- 3 tests
create function pg_temp.finds() returns setof text language sql as $$
  select d.says || ' -> ' || d.hint
  from qwf.doctor('{snapshots}') d where d.level = 'note'
$$;
select is_empty('select pg_temp.finds()', 'a superuser sees all');
set local role qwf_viewer;
select is(pg_temp.finds(), 'this login sees no transactions of other logins, only the dead rows '
  'that they keep -> grant pg_read_all_stats to it, if it may see the statements of everybody',
  'a viewer does not see them, even if the owner does');
reset role;
grant pg_read_all_stats to qwf_viewer;
set local role qwf_viewer;
select is_empty('select pg_temp.finds()', 'unless it is allowed to');

-- 3 tests
select is_empty($$
  select c.oid::regclass, p.privilege
  from pg_class c, unnest(array['insert', 'update', 'delete', 'truncate']) p (privilege)
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v', 'p')
    and has_table_privilege('qwf_viewer', c.oid, p.privilege)
$$, 'no table');
select throws_ok($$ select qwf_test.as_role('qwf_viewer', 'select qwf.enqueue(''a'')') $$, '42501',
  null, 'no work');
select throws_ok($$ select qwf_test.as_role('qwf_viewer', 'select qwf.tick()') $$, '42501', null,
  'not the time');

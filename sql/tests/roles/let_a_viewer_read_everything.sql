begin;
select plan(5);

select is_empty($$
  select c.oid::regclass from pg_class c
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v', 'p', 'm')
    and not has_table_privilege('qwf_viewer', c.oid, 'select')
$$, 'every table and view');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.run_overview') $$,
  'views work');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.pending_inputs') $$,
  'those too');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.recent_jobs') $$,
  'and those');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.check_invariants()') $$,
  'so does this');

select * from finish();
rollback;

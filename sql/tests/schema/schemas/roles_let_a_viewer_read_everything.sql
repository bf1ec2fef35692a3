-- any number of tests
create temp table views as
select format('select * from qwf.%I', v.viewname) as query
from pg_views v where v.schemaname = 'qwf';

select is_empty($$
  select a.attrelid::regclass, a.attname
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v', 'p', 'm')
    and a.attnum > 0 and not a.attisdropped
    and not has_column_privilege('qwf_viewer', c.oid, a.attnum, 'select')
    and (c.relname, a.attname) <> ('jobs', 'token')
$$, 'every column of every table and view, but the tokens of jobs that run');

-- With rows for all of them: the rights to call functions are checked only if there is a row.
select qwf_test.question('confirm');
select qwf.register_worker('box', 'default', '{"tasks": ["other"]}');
select qwf.enqueue('mail'), qwf.enqueue('more'), qwf.enqueue('late', run_at => '2100-01-01');
select qwf_test.claim('default');
select qwf.create_schedule('nightly', task => 'mail', cron => '0 3 * * *');
select isnt((select count(*) from qwf.unassignable_jobs), 0::bigint, 'and a view finds rows');
select lives_ok(format('select qwf_test.as_role(%L, %L)', r.role, v.query),
  r.role || ': ' || v.query)
from views v, unnest('{qwf_viewer,qwf_admin}'::text[]) r (role)
order by v.query, r.role;
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.check_invariants()') $$,
  'and it may check the invariants');

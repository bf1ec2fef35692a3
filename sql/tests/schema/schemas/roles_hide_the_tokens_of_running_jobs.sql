-- 6 tests
-- A role that can read a token and report could end the job of another worker.
select qwf.enqueue('mail');
select qwf_test.claim('default');
select throws_ok($$ select qwf_test.as_role('qwf_viewer', 'select token from qwf.jobs') $$, '42501',
  null, 'a viewer cannot read them');
select throws_ok($$ select qwf_test.as_role('qwf_viewer', 'select to_jsonb(j) from qwf.jobs j') $$,
  '42501', null, 'not as part of a row either');
select throws_ok($$
  select qwf_test.as_role('qwf_viewer', 'select count(*) from qwf.jobs where token is not null')
$$, '42501', null, 'nor filter by them');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select id, status from qwf.jobs') $$,
  'the rest of the row is free to read');
select is_empty($$
  select a.attname from pg_attribute a
  where a.attrelid in ('qwf.jobs'::regclass, 'qwf.job_options'::regclass) and a.attnum > 0
    and not a.attisdropped and a.attname not in ('token', 'id', 'options')
    and not exists (
      select from pg_attribute v
      where v.attrelid = 'qwf.job_details'::regclass and v.attname = a.attname
        and v.atttypid = a.atttypid
        and (a.attrelid = 'qwf.job_options'::regclass
          or col_description(v.attrelid, v.attnum) = col_description(a.attrelid, a.attnum)))
$$, 'and job_details has all of it');
select is_empty($$
  select a.attrelid::regclass, a.attname from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v') and a.attname = 'token'
    and a.attrelid not in ('qwf.jobs'::regclass, 'qwf.job_attempts'::regclass,
      'qwf.attempt_overview'::regclass)
$$, 'tokens are nowhere else; those of ended attempts are spent');

-- 12 tests
select qwf.create_limit('api', 1), qwf.create_limit('customer', 1, keyed => true);
select qwf.enqueue('api', limit_by => 'api'), qwf.enqueue('a', limit_by => 'customer:acme'),
  qwf.enqueue('b', limit_by => 'customer:acme'), qwf.enqueue('plain'), qwf.enqueue('plain2'),
  qwf.enqueue('later', run_at => '2100-01-01', limit_by => 'api');
select bag_eq($$ select qwf_test.claim('default') from generate_series(1, 5) $$,
  array['claimed api', 'claimed a', 'claimed plain', 'claimed plain2', 'claimed nothing'],
  'b waits: acme is full');
select results_eq(format($$
  select job_id, verdict, detail from qwf.change_jobs(
    '{%s,%s,%s}', limit_by => 'customer:bob') order by job_id $$,
    qwf_test.job('a'), qwf_test.job('b'), qwf_test.job('later')),
  format($$ values (%s::bigint, 'refused', 'job %1$s is running'), (%s, 'changed', null),
    (%s, 'changed', null) $$, qwf_test.job('a'), qwf_test.job('b'), qwf_test.job('later')),
  'what has started stays with its limit, and the answer says so');
select is(array[qwf_test.claim('default'), qwf_test.claim('default')],
  array['claimed b', 'claimed nothing'], 'b needs no place of acme any more');
select results_eq($$ select task, limit_by, limit_place is not null from qwf.jobs order by id $$,
  $$ values ('api', 'api', false), ('a', 'customer:acme', true), ('b', 'customer:bob', true),
    ('plain', null, false), ('plain2', null, false), ('later', 'customer:bob', true) $$,
  'each has the place of its key');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

select qwf.enqueue('c');
select count(*) from qwf.change_jobs(array[qwf_test.job('c')], limit_by => 'api');
select is(qwf_test.claim('default'), 'claimed nothing', 'api is full');
select qwf.change_job(qwf_test.job('c'), limit_by => '');
select is((select limit_by from qwf.jobs where task = 'c'), null, 'an empty limit is none');
select is(qwf_test.claim('default'), 'claimed c', 'and the job waits for nothing');
select results_eq($$ select detail from _qwf.event_log where kind = 'changed'
  and job_id = qwf_test.job('c') order by id $$,
  $$ values ('{"new": {"limit_by": "api"}}'::jsonb), ('{"old": {"limit_by": "api"}}') $$,
  'both changes are written');

select qwf.enqueue('d');
select throws_ok($$ select qwf.change_jobs(array[qwf_test.job('d')], limit_by => 'nope') $$,
  'QW001', 'no such limit', 'an unknown limit');
select throws_ok($$ select qwf.change_jobs(array[qwf_test.job('d')], limit_by => 'customer') $$,
  'QW005', 'limit "customer" counts by key', 'a limit by key, without one');
select is_empty('select * from qwf.check_invariants()', 'and it still is');

-- 3 tests
create temp table me as select qwf.register_worker('box', 'default') as id;
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select count(*) from qwf.claim('default', (select id from me), 2);
select count(*) from qwf.claim('default', 'other');
create temp table old as select token from qwf.jobs where task = 'a';
select qwf.deregister_worker((select id from me));
select results_eq('select task, status::text, attempt, failures, losses from qwf.jobs order by id',
  $$
  values ('a', 'queued', 1, 0, 0), ('b', 'queued', 1, 0, 0), ('c', 'running', 1, 0, 0)
$$, 'its own jobs, without counting an attempt');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed'), 'lost',
  'its tokens are no longer valid');
select qwf.enqueue('d');
select is(qwf_test.claim('default', 9), 'claimed a, b, d', 'the jobs it held go first');

-- 5 tests
-- A job that it cannot delete does not stop it from deleting later ones.
select setval('qwf.prune_job', 0);
select qwf.enqueue('waits', queue => 'gpu'), qwf.enqueue('waits', queue => 'gpu');
select qwf.enqueue('a'), qwf.enqueue('a'), qwf.enqueue('a');
select qwf_test.claim('default', 3);
select count(qwf.finish(id, token, 'completed')) from qwf.jobs where task = 'a';
select qwf_test.travel('31 days');
select qwf.enqueue('young');
select is((qwf.prune(2) ->> 'jobs')::int, 0, 'it looks at what waits');
select is((qwf.prune(2) ->> 'jobs')::int, 2, 'and goes on behind it');
select is((qwf.prune(2) ->> 'jobs')::int, 1, 'to the end');
select qwf.prune(2);
delete from qwf.jobs where id = (select min(id) from qwf.jobs);
select qwf_test.work('gpu');
select qwf_test.travel('31 days');
select is((qwf.prune(2) ->> 'jobs')::int, 1, 'then it begins again');
select is((select string_agg(task, ',') from qwf.jobs), 'young', 'and leaves what is live');

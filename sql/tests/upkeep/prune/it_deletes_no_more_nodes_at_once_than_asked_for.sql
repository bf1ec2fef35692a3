-- 4 tests
-- But at least one run, or a large one would stay forever.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c"}]');
select qwf.enqueue_run('w') from generate_series(1, 4);
select qwf_test.claim('cpu', 12);
select count(qwf.finish(id, token, 'completed')) from qwf.jobs;
select qwf_test.travel('31 days');
select is((qwf.prune(1) ->> 'runs')::int, 1, 'a run goes as a whole');
select is((qwf.prune(6) ->> 'runs')::int, 2, 'two of three nodes each');
select is((qwf.prune(6) ->> 'runs')::int, 1, 'the last');
select is_empty('select * from qwf.jobs', 'with all nodes');

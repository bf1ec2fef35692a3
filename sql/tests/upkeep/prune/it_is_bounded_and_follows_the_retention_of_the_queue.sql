-- 3 tests
select qwf.create_queue('short', retention => '1 day');
select count(qwf.enqueue('a', queue => 'short')) from generate_series(1, 3);
select qwf.enqueue('b');
select qwf_test.work('short'), qwf_test.work('default');
select qwf_test.travel('2 days');
select is((qwf.prune(2) ->> 'jobs')::int, 2, 'as many as asked for');
select is((qwf.prune(2) ->> 'jobs')::int, 1, 'then the rest');
select is((select string_agg(task, ',') from qwf.jobs), 'b',
  'the other queue keeps its jobs longer');

-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.travel('1.5 s');
select qwf_test.claim('default');
select qwf_test.travel('2 s');
select qwf_test.report('a', 'lost', error => 'gone', detail => '{"reason": "crashed"}');
select qwf_test.claim('default');
select count(qwf.progress(id, token, 0.5, 'half of it')) from qwf.jobs;
select qwf_test.travel('3 s');
select results_eq($$
  select name, at, attempt, what, by, waited, took, detail from qwf.job_timeline
  where what <> 'lost' or attempt is not null
$$, $$
  values
    ('a', '2030-01-01 00:00:01.5'::timestamptz, 1, 'lost', 'w', 1.500, 2.000, 'crashed: gone'),
    ('a', '2030-01-01 00:00:03.5', 2, 'running', 'w', 0.000, 3.000, 'half of it')
$$, 'attempts, that which runs, too');
select results_eq($$
  select at, by, detail::jsonb -> 'reason' from qwf.job_timeline
  where what = 'lost' and attempt is null and job_id = qwf_test.job('a')
$$, $$ values ('2030-01-01 00:00:03.5'::timestamptz, 'w', '"crashed"'::jsonb) $$,
  'and what was unusual');

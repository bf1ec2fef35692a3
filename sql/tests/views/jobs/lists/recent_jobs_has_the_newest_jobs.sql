select qwf_test.set_now('2030-01-01');
select qwf.enqueue('mail', queue => 'gpu');
select qwf_test.claim('gpu');
select qwf_test.travel('2.5 s');
select qwf_test.report('mail', 'fatal', error => E'boom\nTraceback');
select qwf.enqueue('post', project => 'p');
select results_eq($$
  select task, queue, project, status::text, attempt, worker, seconds, created_at, error
  from qwf.recent_jobs
$$, $$
  values
    ('post', 'default', 'p', 'queued', 0, null, null::numeric,
      '2030-01-01 00:00:02'::timestamptz, null),
    ('mail', 'gpu', '', 'failed', 1, 'w', 2.500, '2030-01-01', 'boom')
$$, 'newest first, with the first line of the error');

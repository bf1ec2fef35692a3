select qwf.enqueue('erring', max_attempts => 2, backoff => '[0]');
select qwf.finish(c.job_id, c.token, 'error') from qwf.claim('default', 'w') c;
select qwf.finish(c.job_id, c.token, 'error') from qwf.claim('default', 'w') c;

select results_eq($$
    select a.attempt, a.status, a.tries, a.max_tries
    from qwf.jobs j
    cross join qwf.after_failures(array[j.id, j.id], array[1, 2], array['error', 'error']) a
  $$,
  $$ values (1, 'queued', null::int, null::int), (2, 'failed', 2, 2) $$,
  'an attempt is not told the end of the next one');

-- 6 tests
create function pg_temp.why(p_task text) returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job(p_task)) w $$;
select qwf.create_limit('api', 1), qwf.create_limit('gone', 1),
  qwf.create_queue('night', max_running => 1);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('c', queue => 'cpu', limit_by => 'gone'),
  qwf.enqueue('d', queue => 'night'), qwf.enqueue('e', queue => 'night');
select qwf.register_worker('box', 'cpu'), qwf.register_worker('box', 'night');
select qwf_test.claim('cpu'), qwf_test.claim('night');
select matches(pg_temp.why('b'), format('limit api is full, 1 of 1 slots are taken: job %s on w',
  qwf_test.job('a')), 'the limit');
select matches(pg_temp.why('e'), format('queue night is full, 1 of 1 slots are taken: job '
  '%s on w', qwf_test.job('d')), 'the queue');
select qwf_test.report('a');
select is(pg_temp.why('b'), 'no job is ahead of it in queue cpu', 'a slot is free');
delete from qwf.limits where name = 'gone';
select matches(pg_temp.why('c'), 'limit gone does not exist any more: select qwf.create_limit',
  'the limit is gone');
select qwf.pause_queue('cpu');
select matches(pg_temp.why('b'), 'queue cpu is paused: select qwf.resume_queue\(''cpu''\)',
  'what to do');
select qwf.resume_queue('cpu'), qwf.create_limit('api', 9);
select qwf.enqueue('f' || n, queue => 'cpu', limit_by => 'api', priority => 1)
  from generate_series(1, 6) n;
select qwf_test.claim('cpu', 6), qwf.create_limit('api', 2);
select matches(pg_temp.why('b'),
  'limit api is full, 6 of 2 slots are taken: (job \d+ on w, ){3}\.\.\.',
  'some of many');

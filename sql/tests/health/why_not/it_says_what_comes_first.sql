-- 6 tests
-- A worker could take it: busy workers, a loaded model, a host to avoid, expiry.
select qwf_test.set_now('2026-01-01 12:00Z');
create function pg_temp.why() returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job('t')) w $$;
create temp table worker as select qwf_test.worker('{"current_model": "sam"}') as id;
select qwf.enqueue('first', queue => 'gpu', priority => 1, model => 'sam'),
  qwf.enqueue('t', queue => 'gpu', expires => '2 min'),
  qwf.enqueue('warm', queue => 'gpu', model => 'sam');
select is(pg_temp.why(), format('1 job is ahead of it in queue gpu; worker %s has model sam '
  'loaded and takes its jobs first, until the head of the queue has waited 00:01:00', id),
  'a warm model') from worker;
select qwf_test.gets(id, 2) from worker;
select is(pg_temp.why(), format('no job is ahead of it in queue gpu; worker %s holds 2 jobs and '
  'runs at most 1 at once', id), 'a busy worker') from worker;
update qwf.jobs set avoid_host = 'box', avoid_until = qwf.now() + interval '5 min'
  where task = 't';
select unalike(pg_temp.why(), '%avoid%', 'nobody else is there');
select qwf_test.worker('{"slots": 2}', 'other');
select unalike(pg_temp.why(), '%box%', 'another can take it');
select is((select reasons[1] from _qwf.why_unfit((select j from qwf.jobs j where task = 't'),
  qwf.now()) u, worker where u.worker = worker.id),
  format('an attempt on box did not complete, so the job is left to other hosts until %s',
    qwf.now() + interval '5 min'), 'that is why this one does not');
select qwf_test.travel('2 min');
select matches(pg_temp.why(), 'it expired at .*, before it was started', 'too late');

-- 6 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('queues'), 'fine: Queued work has workers that can take it.', 'none waits');
select qwf_test.set_now('2030-01-01 12:00');
select qwf.enqueue('t', queue => 'cpu');
select qwf_test.travel('1 h');
select is(pg_temp.finds('queues'),
  'problem: queue cpu: 1 job waits, the oldest for 1 h 00 min, and '
  'no live worker serves it -> qwf agent --queue cpu --nodes PACKAGE (or --app); or: qwf workers '
  '--all', 'nobody serves it');
select qwf.pause_queue('cpu');
select is(pg_temp.finds('queues'), 'note: queue cpu is paused and 1 job waits -> '
  'qwf queue resume cpu', 'it is paused');
select qwf.resume_queue('cpu'), qwf.register_worker('box-a', 'cpu', '{"models": []}');
select is(pg_temp.finds('queues'),
  'fine: Queued work has workers that can take it.', 'one serves it');
select qwf.worker_control('box-a', 'cpu', 'off');
select is(pg_temp.finds('queues'), 'note: queue cpu: 1 job waits and its workers are switched off '
  '(box-a) -> qwf worker on --host box-a --queue cpu', 'it is switched off');
select qwf.worker_control('box-a', 'cpu', 'on'), qwf.cancel_job(j.id) from qwf.jobs j;
create temp table job as select qwf.enqueue('t', queue => 'cpu', model => 'flux') as id;
select is(pg_temp.finds('queues'),
  format('problem: no live worker can take job %1$s (t, queue cpu) '
  '-> qwf why %1$s', j.id), 'none can take it') from job j;

-- 2 tests
select qwf_test.set_now('2026-01-01 12:00+00');
select qwf.enqueue('t', '{"n": 7}', queue => 'cpu', key => 'k', max_attempts => 2);
select qwf.claim('cpu', qwf.register_worker('box', 'cpu'));
select qwf.finish(j.id, j.token, 'released') from qwf.jobs j;
select qwf.claim('cpu', w.id) from qwf.workers w;
select qwf.progress(j.id, j.token, 0.5, 'half') from qwf.jobs j;
select qwf_test.travel('3 s');
select results_eq(
  $$ select f.task, f.queue, f.status::text, f.attempt, f.released, f.worker = w.id, f.host,
    f.progress, f.progress_message, f.seconds, f.key, f.error, f.args
    from qwf.find_jobs() f cross join qwf.workers w $$,
  $$ values ('t', 'cpu', 'running', 2, 1, true, 'box', 0.5::real, 'half', 3::double precision, 'k',
    null::text, '{"n": 7}'::jsonb) $$, 'of a running job');
select qwf.finish(j.id, j.token, 'fatal', error => E'first line\nsecond') from qwf.jobs j;
select results_eq(
  $$ select f.status::text, f.seconds, f.error, f.finished_at from qwf.find_jobs() f $$,
  $$ values ('failed', 3::double precision, 'first line', '2026-01-01 12:00:03+00'::timestamptz) $$,
  'of an ended one');

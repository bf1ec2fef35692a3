-- 5 tests
create temp table w as select qwf.register_worker('box', 'cpu', '{"writes_begun": true}') as id;
create function pg_temp.ends(
  p_task text, p_outcome text, p_error text, p_detail jsonb default '{}',
  p_begins boolean default true)
returns text language plpgsql as $$
declare
  v_job qwf.jobs;
begin
  perform qwf.enqueue(p_task, queue => 'cpu', max_attempts => 3, at_most_once => true);
  perform qwf.claim('cpu', (select id from w));
  perform qwf.progress(qwf_test.job(p_task), qwf_test.token(p_task), begun => p_begins);
  perform qwf_test.report(p_task, p_outcome, error => p_error, detail => p_detail);
  select j.* into v_job from qwf.jobs j where j.id = qwf_test.job(p_task);
  perform qwf.cancel_job(v_job.id) where v_job.finished_at is null;  -- out of the way
  return format('%s, %s: %s', v_job.status, v_job.begun, v_job.last_error);
end $$;

select results_eq($$ select e.task, pg_temp.ends(e.task, e.outcome, e.error, e.detail)
    from (values
      ('stop', 'released', null, '{"reason": "worker_off"}'::jsonb),
      ('silent_stop', 'released', null, '{}'),
      ('kill', 'lost', 'killed by SIGKILL', '{"reason": "crashed", "signal": 9}'),
      ('timeout', 'lost', 'timeout: 5 s', '{"reason": "timeout"}'),
      ('neighbour', 'released', 'another job', '{"reason": "neighbour"}'),
      ('disk', 'tempfail', 'disk full', '{"reason": "disk_full"}')
      ) e (task, outcome, error, detail) $$,
  $$ values
    ('stop', 'failed, t: it may have run: given back by its worker (worker_off)'),
    ('silent_stop', 'failed, t: it may have run: given back by its worker'),
    ('kill', 'failed, t: it may have run: killed by SIGKILL'),
    ('timeout', 'failed, t: it may have run: timeout: 5 s'),
    ('neighbour', 'failed, t: it may have run: another job'),
    ('disk', 'failed, t: it may have run: disk full') $$,
  'an end about which the body said nothing is the last one');
select results_eq(
  $$ select j.task, a.outcome, a.detail ->> 'reason', a.detail ->> 'cause'
    from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id
    where j.task in ('stop', 'timeout') order by j.id $$,
  $$ values ('stop', 'released', 'maybe_run', 'worker_off'),
    ('timeout', 'lost', 'maybe_run', 'timeout') $$, 'the attempt says why');
select results_eq($$ select e.task, pg_temp.ends(e.task, e.outcome, e.error, e.detail)
    from (values
      ('done', 'completed', null, '{}'::jsonb),
      ('raises', 'error', 'no', '{}'),
      ('wrong', 'fatal', 'what is x?', '{"reason": "arguments"}'),
      ('busy', 'tempfail', '429', '{"retry_after_s": 7}'),
      ('later', 'released', null, '{"reason": "later", "retry_after_s": 7}')
      ) e (task, outcome, error, detail) $$,
  $$ values ('done', 'completed, t: '), ('raises', 'failed, t: no'),
    ('wrong', 'failed, f: what is x?'), ('busy', 'scheduled, f: 429'),
    ('later', 'scheduled, f: ') $$,
  'what the body says itself keeps its meaning');
select results_eq($$ select e.task, pg_temp.ends(e.task, e.outcome, e.error, '{}', false)
    from (values ('early_stop', 'released', null), ('early_loss', 'lost', 'gone'),
      ('early_error', 'error', 'no')) e (task, outcome, error) $$,
  $$ values ('early_stop', 'queued, f: '), ('early_loss', 'queued, f: gone'),
    ('early_error', 'scheduled, f: no') $$, 'what has not begun ends as any other');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

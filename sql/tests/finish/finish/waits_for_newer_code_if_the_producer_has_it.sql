-- 15 tests
-- The typed Python client marks a job whose arguments it has compared with the function.
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.register_worker('box-a', 'default', '{"tasks": ["t"]}');
create temp table job as select qwf.enqueue('t', labels => '{"qwf.checked": true, "a": 1}') as id;
select results_eq('select checked, labels from qwf.jobs', $$values (true, '{"a": 1}'::jsonb)$$,
  'the mark is no label of the job');
create temp table told (id bigint, token uuid);
create function pg_temp.fails(p_reason text, p_job bigint default null) returns text
language plpgsql as $$
declare
  v_id bigint := coalesce(p_job, (select id from job));
begin
  insert into told select c.job_id, c.token
  from qwf.claim('default', (select w.id from qwf.workers w)) c;
  perform qwf.finish(t.id, t.token, 'fatal',
    error => 't() does not take the argument ''cc''; its arguments are aa',
    detail => jsonb_strip_nulls(jsonb_build_object('reason', p_reason)))
  from told t;
  perform qwf_test.set_now('2026-01-01 12:00Z'::timestamptz + (qwf.now() - '2026-01-01 12:00Z'));
  return (select concat_ws(' ', j.status, j.run_at - qwf.now(), j.failures, j.losses, a.outcome,
      a.detail ->> 'reason')
    from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id and a.attempt = j.attempt
    where j.id = v_id);
end $$;
select is(pg_temp.fails('arguments'), 'scheduled 00:00:15 0 0 released older_code',
  'it waits 15 s');
select is((select string_agg(w, '') from qwf.why_not((select id from job)) w),
  'it waits for 2026-01-01 12:00:15+00, in 00:00:15, after: box-a runs older code: t() does not '
  'take the argument ''cc''', 'it says which box has older code');
select is((select verdict from told t, qwf.finish_many(jsonb_build_array(jsonb_build_object(
    'job_id', t.id, 'token', t.token, 'outcome', 'fatal',
    'error', 't() does not take the argument ''cc''; its arguments are aa',
    'detail', '{"reason": "arguments"}'::jsonb)))), 'ok', 'the same report again is known');
delete from told;
select qwf_test.travel('59 min');
select _qwf.promote_due();
select is(pg_temp.fails('arguments'), 'scheduled 00:00:15 0 0 released older_code',
  'within an hour it waits again');
delete from told;
select results_eq($$ select kind, detail - 'worker' from _qwf.event_log
  where kind = 'older_code' $$,
  $$ values ('older_code',
    jsonb '{"attempt":1,
    "error": "box-a runs older code: t() does not take the argument ''cc''"}') $$,
  'one event, at the first time');
select qwf_test.travel('1 min');
select _qwf.promote_due();
select is(pg_temp.fails('arguments'), 'failed 1 0 fatal arguments', 'after an hour it fails');
delete from told;
select qwf.retry_job((select id from job));
select is(pg_temp.fails('arguments'), 'scheduled 00:00:15 0 0 released older_code',
  'retried by a person, it has another hour');
delete from told;
create temp table other as select qwf.enqueue('t') as id;
select is(pg_temp.fails('arguments', (select id from other)), 'failed 1 0 fatal arguments',
  'nobody has compared these arguments: it fails at once');
delete from told;
create temp table bad as select qwf.enqueue('t', labels => '{"qwf.checked": true}') as id;
select is(pg_temp.fails(null, (select id from bad)), 'failed 1 0 fatal',
  'another failure is no sign of older code');
delete from told;
select qwf.enqueue('t', key => 'k', labels => '{"qwf.checked": true}'),
  qwf.enqueue('t', key => 'k', labels => '{"b": 2}', key_mode => 'replace');
select results_eq($$select checked, labels from qwf.jobs where key = 'k'$$,
  $$values (false, '{"b": 2}'::jsonb)$$, 'who replaces the arguments has not compared them');
select qwf.enqueue_many('[{"task": "t", "labels": {"qwf.checked": true}}, {"task": "t"}]');
select results_eq($$select checked, labels from qwf.jobs order by id desc limit 2$$,
  $$values (false, '{}'::jsonb), (true, '{}')$$, 'also in a list');
select qwf.cancel_job(id) from qwf.jobs where status = 'queued';
create temp table last as select qwf.enqueue('t', labels => '{"qwf.checked": true}') as id;
select pg_temp.fails('arguments', (select id from last));
select qwf_test.travel('15 s');
select _qwf.promote_due();
select qwf.register_worker('box-b', 'default', '{"tasks": ["t"]}');
create function pg_temp.taken_by(p_host text) returns boolean language sql as $$
  select exists (
    select from qwf.workers w cross join lateral qwf.claim('default', w.id, 9) c
    where w.host = p_host and c.job_id = (select id from last))
$$;
select ok(not pg_temp.taken_by('box-a'), 'then the box with older code leaves it to another one');
select ok(pg_temp.taken_by('box-b'), 'which takes it');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');

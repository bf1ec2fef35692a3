-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select set_config('timezone', 'UTC', true);
create function pg_temp.why() returns setof text language sql as $$
  select qwf.why_not(qwf_test.job('t')) $$;
create temp table worker as select qwf.register_worker('box', 'gpu') as id,
  qwf.register_worker('other', 'gpu', '{"tasks": ["u"], "models": []}') as unfit;
select qwf.enqueue('t', queue => 'gpu', model => 'sam');
select qwf.worker_control('box', 'gpu', 'off', 'drain', 'ann', 'new card', '2026-01-01 13:00Z');
select is((select pg_temp.why() limit 1), (select format('worker %s cannot take it: box is '
  'switched off (drain) by %I, acting for ann until 2026-01-01 13:00:00+00, because: new card', id,
  qwf_test.login()) from worker),
  'the nearest miss first');
select results_eq($$ select pg_temp.why() offset 1 $$, $$
  select format('worker %s cannot take it: it has no task t, it does not know model sam', unfit)
  from worker $$, 'then the next');
select qwf.worker_control('box', 'gpu', 'on');
select results_eq($$ select pg_temp.why() $$, $$ values ('no job is ahead of it in queue gpu') $$,
  'on again');

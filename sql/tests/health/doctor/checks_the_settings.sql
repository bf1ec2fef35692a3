-- 3 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('settings'),
  'fine: The intervals in qwf.settings fit each other.', 'they do');
update qwf.settings set worker_stale = '90 s', heartbeat = '60 s';
select is(pg_temp.finds('settings'), 'problem: worker_stale 1 min 30 s is shorter than two '
  'heartbeats: live workers are taken for dead -> qwf settings worker_stale TIME', 'too short');
update qwf.settings set worker_stale = '300 s', tick = lease + interval '1 s', poll = '2 min';
select results_eq($$select pg_temp.finds('settings')$$, $$values
  ('problem: tick is longer than the lease: lost jobs wait for the next tick -> qwf settings tick '
    'TIME'),
  ('note: poll is 2 min 00 s: a lost wake-up delays work that long -> qwf settings poll TIME')$$,
  'too long');

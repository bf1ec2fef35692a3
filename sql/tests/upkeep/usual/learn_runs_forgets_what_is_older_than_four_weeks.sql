-- 4 tests
select qwf_test.set_now('2030-01-01');
create function pg_temp.took(p_seconds real) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject, run_id, detail)
  select qwf.now(), 'run_ended', 'w', n,
    jsonb_build_object('status', 'completed', 'seconds', p_seconds)
  from generate_series(1, 20) n;
  select _qwf.number_events(), _qwf.learn_runs() $$;
select pg_temp.took(100);
select qwf_test.travel('15 days');
select pg_temp.took(1);
select results_eq('select runs, round(p95) from qwf.usual',
  $$ values (40::bigint, 100::double precision) $$, 'both fortnights count');
select qwf_test.travel('15 days');
select pg_temp.took(1);
select results_eq('select runs, round(p95) from qwf.usual',
  $$ values (40::bigint, 1::double precision) $$, 'the one before is forgotten');
select is((select jsonb_array_length(last) from qwf.usual), 20, 'a run stands once');
insert into _qwf.event_log (at, kind, subject, run_id, detail)
select qwf.now(), 'run_ended', 'w', n, '{"status": "completed", "seconds": 1}'
from generate_series(101, 200) n;
select _qwf.number_events(), _qwf.learn_runs();
select is((select (jsonb_array_length(last), last #>> '{0,run}')::text from qwf.usual), '(60,200)',
  'the last 60 are kept');

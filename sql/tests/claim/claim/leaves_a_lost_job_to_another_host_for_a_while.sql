-- 8 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id, qwf_test.worker('{}', 'other') as peer;
select qwf.enqueue('t', queue => 'gpu');
update qwf.jobs set avoid_host = 'box', avoid_until = '2026-01-01 12:05Z', attempt = 1;
create function pg_temp.taken(p_worker text) returns text language plpgsql as $$
declare v_got text;
begin
  begin
    v_got := qwf_test.gets(p_worker);
    raise exception using errcode = 'P0001', message = v_got;
  exception when raise_exception then return sqlerrm;
  end;
end $$;
select is(pg_temp.taken(id), 'nothing', 'another host could take it') from worker;
select is(pg_temp.taken(peer), 't', 'and does') from worker;
select qwf.worker_control('other', 'gpu', 'off');
select is(pg_temp.taken(id), 't', 'the other is switched off') from worker;
select qwf.worker_control('other', 'gpu', 'on');
update qwf.workers set tasks = '{u}' where host = 'other';
select is(pg_temp.taken(id), 't', 'the other cannot run it') from worker;
update qwf.workers set tasks = null, stopped_at = qwf.now() where host = 'other';
select is(pg_temp.taken(id), 't', 'the other has gone') from worker;
update qwf.workers set stopped_at = null, last_seen = qwf.now() - interval '1 min'
  where host = 'other';
select is(pg_temp.taken(id), 't', 'the other is dead') from worker;
update qwf.workers set last_seen = qwf.now();
select is(pg_temp.taken(id), 'nothing', 'the other is back') from worker;
select qwf_test.travel('5 min');
update qwf.workers set last_seen = qwf.now();
select is(pg_temp.taken(id), 't', 'the time is over') from worker;

-- 17 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id;
select qwf.create_limit('smtp', 2), qwf.create_limit('line', 1);
create function pg_temp.holds(p_until timestamptz) returns text language sql as
$$ select to_char(qwf.hold_limit('smtp', p_until, job_id => 7) at time zone 'UTC', 'HH24:MI') $$;

select qwf.enqueue('mail', queue => 'gpu', limit_by => 'smtp') from generate_series(1, 3);
select qwf.enqueue('other', queue => 'gpu');
select is(qwf_test.gets(id, 1), 'mail', 'one runs') from worker;
select is(pg_temp.holds('2026-01-01 12:10Z'), '12:10', 'it is held');
select is(qwf_test.gets(id, 9), 'other', 'none of it starts, others do') from worker;
select is((select w from qwf.why_not(
    (select min(id) from qwf.jobs where status = 'queued')) w limit 1),
  format('limit smtp is held until %s, by job 7', timestamptz '2026-01-01 12:10Z'),
  'why_not says until when, and by whom');
select is((select held_until || ' ' || held_by from qwf.limit_overview where name = 'smtp'),
  timestamptz '2026-01-01 12:10Z' || ' job 7', 'so does the view');
select is((select says from qwf.doctor() where subject = 'limit smtp'),
  'limit smtp is held until ' || _qwf.spell_moment('2026-01-01 12:10Z') || ', by job 7',
  'and doctor');
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.status = 'running';
select is(pg_temp.holds('2026-01-01 12:05Z'), '12:10', 'the later of two holds wins');
select qwf.create_limit('smtp', 5);
select is(qwf_test.gets(id, 9), 'nothing', 'it survives a change of the limit') from worker;
select qwf_test.travel('9 min 59 s');
select is(qwf_test.gets(id, 9), 'nothing', 'until its time') from worker;
select qwf.sleep(id, 'gpu') from worker;
select is((qwf.tick() -> 'next_due_s')::numeric, 1.0, 'who ticks is told when it ends');
select qwf_test.travel('1 s');
select qwf.tick();
select is(qwf_test.woken(), id, 'then a sleeper is woken') from worker;
select is_empty('select * from qwf.limit_holds', 'and the hold is gone');
select is(qwf_test.gets(id, 1), 'mail', 'and the next starts') from worker;

select pg_temp.holds('2026-01-01 13:00Z');
select is(pg_temp.holds(null), null, 'null ends it');
select is(qwf_test.gets(id, 1), 'mail', 'at once') from worker;

select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "gpu"}]}');
select qwf.hold_limit('line', qwf.now() + interval '1 min'),
  qwf.enqueue_run('w', limit_by => 'line');
select qwf.tick();
select is(qwf_test.gets(id, 9), 'nothing', 'a run in line waits, too') from worker;
select qwf.hold_limit('line', qwf.now()), qwf.tick();
select is(qwf_test.gets(id, 9), 'a', 'and starts when a time that is past ends the hold')
from worker;

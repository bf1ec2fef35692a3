-- 6 tests
create function pg_temp.tick_in_s() returns numeric language sql as
  'select tick_in_s from qwf.stay_asleep(''w'', ''gpu'', max_age => ''2.5 s'')';

select qwf_test.set_now('2030-01-01');
select qwf.tick(), qwf_test.travel('2 s');
select is(pg_temp.tick_in_s(), null, 'a tick has just run, and nothing is due');
select qwf.enqueue('later', run_at => qwf.now() + interval '3 s');
select is(pg_temp.tick_in_s(), 3.0, 'when the next job is due');
select qwf_test.travel('1 s');
select is(pg_temp.tick_in_s(), 0.0, 'no tick has run for too long');
select qwf.tick(), qwf_test.travel('2.1 s');
select is(pg_temp.tick_in_s(), 0.0, 'the job is due');
select qwf.tick('2.5 s');
select is(pg_temp.tick_in_s(), null, 'and has been queued');
select is((select sleepers from qwf.stay_asleep('another', 'gpu')), 2, 'the number of sleepers');

-- 5 tests
select qwf_test.set_now('2030-01-01');
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select qwf.sleep(one, 'gpu') from who;
select qwf_test.travel('9 s');
select s.* from who, qwf.stay_asleep(one, 'gpu', '{"busy": 0}') s;
select results_eq('select last_seen, stats from qwf.workers', $$
  values ('2030-01-01 00:00:09'::timestamptz, '{"busy": 0}'::jsonb) $$, 'as a heartbeat does');
select ok((select since > '2030-01-01 00:00:08' from qwf.sleepers), 'as sleep does');
select throws_ok($$ select qwf.stay_asleep('w', 'gpuu') $$, 'QW006', null, 'no such queue');
select throws_ok($$ select qwf.stay_asleep('w', 'gpu', '[]') $$, 'QW005', 'invalid heartbeat',
  'stats are an object');
select throws_ok($$ select qwf.stay_asleep('w', 'gpu', max_age => '-1 s') $$, 'QW005',
  'invalid age', 'a negative age');

-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf.tick();
select qwf.enqueue('delayed', run_at => qwf.now() + '0.2 s');
select qwf.create_schedule('often', task => 'recurring', every => '1 min');
select is(qwf.tick('1 h') - 'next_due_s', '{"ran": false}', 'nothing is due yet');
select is((qwf.tick('1 h') -> 'next_due_s')::numeric, 0.2, 'but soon');
select qwf_test.travel('0.2 s');
select is(qwf.tick('1 h') - 'next_due_s' - 'numbered',
  '{"ran": true, "promoted": 1, "served": 0, "fired": 0, "allowed": 0, "answered": 0}',
  'then the job is queued');
select qwf_test.set_now((select next_at from qwf.schedules));
select is(qwf.tick('1 h') - 'next_due_s' - 'numbered',
  '{"ran": true, "promoted": 0, "served": 0, "fired": 1, "allowed": 0, "answered": 0}',
  'and the schedule fires');
select is((qwf.tick('1 h') -> 'next_due_s')::numeric, 60.0, 'once');

-- 6 tests
-- A schedule of the task qwf.send pings a receiver: for a service that raises the alarm when no
-- ping comes any more.
select qwf_test.set_now('2030-01-01');
select lives_ok($$ select qwf.create_schedule('alive', 'qwf.send', every => '5 min',
  args => '{"receiver": "deadman"}') $$, 'the task is for schedules');
select is((select queue from qwf.schedules), 'qwf.alerts', 'its queue is that of all messages');
select qwf_test.travel('5 min'), qwf.tick();
select results_eq($$ select j.queue, j.inputs, j.requires, (j.options).max_attempts, j.schedule,
    j.labels -> 'schedule' from qwf.jobs j $$, $$
  values ('qwf.alerts', '{"receiver": "deadman"}'::jsonb, '{"receiver.deadman": "true"}'::jsonb, 3,
    'alive', '"alive"'::jsonb) $$, 'a job for an agent that has the receiver');
select throws_ok($$ select qwf.create_schedule('x', 'qwf.send', every => '5 min',
  args => '{"receiver": "a@b.example"}', options => '{"key": "k"}') $$, 'QW005');
select throws_ok($$ select qwf.create_schedule('x', 'qwf.send', every => '5 min',
  args => '{"receiver": "deadman", "message": {}}') $$, 'QW005');
select throws_ok($$ select qwf.create_schedule('x', 'qwf.other', every => '5 min',
  queue => 'qwf.alerts') $$, 'QW007');

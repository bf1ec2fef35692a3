begin;
select plan(4);

select qwf.create_schedule('x', 't', every => '1 h');
select qwf_test.travel('2 h');
select throws_ok(
  format($$ select qwf_test.as_role(%L, $q$ select qwf.fire_schedules() $q$) $$, r.name),
  '42501', null, r.name)
from unnest(array['qwf_producer', 'qwf_viewer']) r (name);
select lives_ok($$ select qwf_test.as_role('qwf_worker', $q$ select qwf.fire_schedules() $q$) $$,
  'qwf_worker');
select is(qwf_test.state('t'), 'queued', 'a worker enqueues what an administrator scheduled');

select * from finish();
rollback;

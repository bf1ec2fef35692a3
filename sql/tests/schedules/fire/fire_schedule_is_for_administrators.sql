-- 4 tests
select qwf.create_schedule('x', 't', cron => '@daily');
select throws_ok(
  format($$ select qwf_test.as_role(%L, $q$ select qwf.fire_schedule('x') $q$) $$, r.name),
  '42501', null, r.name)
from unnest(array['qwf_producer', 'qwf_worker', 'qwf_viewer']) r (name);
select lives_ok(
  $$ select qwf_test.as_role('qwf_admin', $q$ select qwf.fire_schedule('x') $q$) $$, 'qwf_admin');

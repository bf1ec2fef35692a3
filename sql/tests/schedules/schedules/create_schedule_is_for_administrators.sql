-- 4 tests
select lives_ok(
  $$ select qwf_test.as_role('qwf_admin',
       $q$ select qwf.create_schedule('x', 't', cron => '@daily') $q$) $$, 'qwf_admin');
select throws_ok(
  format($$ select qwf_test.as_role(%L,
    $q$ select qwf.create_schedule('x', 't', cron => '@daily') $q$) $$, r.name),
  '42501', null, r.name)
from unnest(array['qwf_producer', 'qwf_worker', 'qwf_viewer']) r (name);

-- 15 tests
select throws_ok(format('select qwf.create_schedule(%L, %L, %s)', 'x', 't', e.times),
  'QW005', 'invalid schedule', e.why)
from (values
  ($$ cron => '0 0 31 2 *' $$, 'February has no 31st'),
  ($$ cron => '0 0 31 4,6,9,11 *' $$, 'nor do the other short months'),
  ($$ cron => '0 0 30-31 feb */2' $$, 'whatever the weekday'),
  ($$ minute => 60 $$, 'an hour has no minute 60'),
  ($$ minute => 5, hours => '{}' $$, 'no hours'),
  ($$ minute => 5, hours => '{24}' $$, 'an hour out of range'),
  ($$ minute => 5, hours => '{3, null}' $$, 'a null hour'),
  ($$ every => '0 s' $$, 'an interval of 0'),
  ($$ every => '-1 h' $$, 'a negative interval'),
  ($$ every => '0.5 s' $$, 'faster than a tick'),
  ($$ every => '367 days' $$, 'more than a year'),
  ($$ every => '1 month' $$, 'an interval that varies'),
  ($$ every => '1 h', anchor => 'infinity' $$, 'an infinite anchor')) e (times, why);
select lives_ok($$ select qwf.create_schedule('x', 't', cron => '0 0 29 2 *') $$,
  '29 February occurs');
select lives_ok($$ select qwf.create_schedule('x', 't', cron => '0 0 31 2 1') $$,
  'so does a Monday in February');

begin;
select plan(15);

select throws_ok(format('select qwf.create_schedule(%L, %L, %s)', 'x', 't', e.times),
  'QW005', 'invalid schedule', e.why)
from (values
  ($$ cron => '0 0 31 2 *' $$, 'the last of February is not the 31st'),
  ($$ cron => '0 0 31 4,6,9,11 *' $$, 'nor are those of shorter months'),
  ($$ cron => '0 0 30-31 feb */2' $$, 'whatever the weekday'),
  ($$ minute => 60 $$, 'an hour has no minute 60'),
  ($$ minute => 5, hours => '{}' $$, 'no hour at all'),
  ($$ minute => 5, hours => '{24}' $$, 'an hour too many'),
  ($$ minute => 5, hours => '{3, null}' $$, 'an hour that is not said'),
  ($$ every => '0 s' $$, 'no distance'),
  ($$ every => '-1 h' $$, 'backwards'),
  ($$ every => '0.5 s' $$, 'faster than a tick'),
  ($$ every => '367 days' $$, 'more than a year'),
  ($$ every => '1 month' $$, 'a distance that differs'),
  ($$ every => '1 h', anchor => 'infinity' $$, 'from a time that never comes')) e (times, why);
select lives_ok($$ select qwf.create_schedule('x', 't', cron => '0 0 29 2 *') $$,
  'the 29th of February comes');
select lives_ok($$ select qwf.create_schedule('x', 't', cron => '0 0 31 2 1') $$,
  'and so does a Monday in February');

select * from finish();
rollback;

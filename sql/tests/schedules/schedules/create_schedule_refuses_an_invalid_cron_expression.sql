-- 19 tests
select throws_ok(format('select qwf.create_schedule(%L, %L, cron => %L)', 'x', 't', e.expression),
  'QW005', 'invalid schedule', e.why)
from (values
  ('', 'empty'), ('* * * *', 'four fields'), ('0 0 * * * *', 'six fields'),
  ('@reboot', 'an unknown name'), ('60 * * * *', 'a minute out of range'),
  ('* 24 * * *', 'an hour out of range'), ('* * 0 * *', 'a day out of range'),
  ('* * * 13 *', 'a month out of range'),
  ('* * * * 8', 'a weekday out of range'), ('*/0 * * * *', 'a step of 0'),
  ('*/90 * * * *', 'a step of more than an hour'), ('1,,2 * * * *', 'a gap in a list'),
  ('1- * * * *', 'half a range'), ('-1 * * * *', 'a negative number'),
  ('MON * * * *', 'a name in the wrong field'), ('* * L * *', 'an extension: the last day'),
  ('* * * * MON#2', 'an extension: the second Monday'), ('*-5 * * * *', 'a range from *'),
  (repeat('1,', 300) || '1 * * * *', 'a very long one')) e (expression, why);

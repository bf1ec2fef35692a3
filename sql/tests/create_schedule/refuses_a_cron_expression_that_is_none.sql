begin;
select plan(19);

select throws_ok(format('select qwf.create_schedule(%L, %L, cron => %L)', 'x', 't', e.expression),
  'QW005', 'invalid schedule', e.why)
from (values
  ('', 'nothing'), ('* * * *', 'four fields'), ('0 0 * * * *', 'six fields'),
  ('@reboot', 'a name that is not known'), ('60 * * * *', 'a minute too many'),
  ('* 24 * * *', 'an hour too many'), ('* * 0 * *', 'no day'), ('* * * 13 *', 'no month'),
  ('* * * * 8', 'no day of the week'), ('*/0 * * * *', 'a step of nothing'),
  ('*/90 * * * *', 'a step longer than the hour'), ('1,,2 * * * *', 'a hole in a list'),
  ('1- * * * *', 'half a range'), ('-1 * * * *', 'a negative number'),
  ('MON * * * *', 'a name in the wrong place'), ('* * L * *', 'what others have for the last day'),
  ('* * * * MON#2', 'what others have for the second Monday'), ('*-5 * * * *', 'a range from all'),
  (repeat('1,', 300) || '1 * * * *', 'a very long one')) e (expression, why);

select * from finish();
rollback;

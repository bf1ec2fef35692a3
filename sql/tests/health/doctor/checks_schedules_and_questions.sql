-- 3 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('schedules'),
  'fine: Schedules fire, and questions are answered.', 'all is well');
select qwf.create_schedule('s', 't', every => '1 h');
update qwf.schedules set last_error = 'no such queue';
select is(pg_temp.finds('schedules'), 'problem: schedule s could not enqueue: no such queue -> '
  'correct it: qwf schedule add', 'one fails');
delete from qwf.schedules;
select qwf_test.set_now('2030-01-01 12:00');
select qwf_test.question('confirm');
select qwf_test.travel('3 days');
select is(pg_temp.finds('schedules'),
  'note: 1 questions wait, the oldest for 3 d 00 h -> qwf inputs',
  'nobody answers');

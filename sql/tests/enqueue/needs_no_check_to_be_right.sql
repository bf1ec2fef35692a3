-- Most jobs go past the full check. A value that it would refuse is refused in any company.
begin;
select plan(7);

select lives_ok($$ select qwf.enqueue(repeat('t', 200), '{"x": "y"}', 'cpu', 7) $$, 'the usual');
select throws_ok($$ select qwf.enqueue(repeat('t', 201)) $$, 'QW005', 'invalid job', 'a long task');
select throws_ok($$ select qwf.enqueue('') $$, 'QW005', 'invalid job', 'an empty task');
select throws_ok($$ select qwf.enqueue(null) $$, 'QW005', 'invalid job', 'no task');
select throws_ok($$ select qwf.enqueue('t', args => null) $$, 'QW005', 'invalid job', 'no args');
update qwf.settings set max_value_bytes = 20;
select throws_ok($$ select qwf.enqueue('t', '{"x": "123456789012345678"}') $$, 'QW005',
  'value too large', 'the setting counts for small values too');
select throws_ok($$ select qwf.enqueue_many('[{"task": "t", "args": {"x": "12345678901234"}}]') $$,
  'QW005', 'value too large', 'in a list as well');

select * from finish();
rollback;

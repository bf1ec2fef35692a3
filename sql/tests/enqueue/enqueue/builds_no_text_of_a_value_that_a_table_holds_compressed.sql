-- 4 tests
-- Two million letters take 23 kB in a table, and would take twelve million as text.
create temp table big (value jsonb);
insert into big values (jsonb_build_object('x', repeat(chr(1), 2000000)));
select cmp_ok(pg_column_size(value), '<', 65536, 'the value looks small') from big;
select qwf_test.explains($$ select qwf.enqueue_run('w', labels => value) from big $$,
  'labels has more than 65536 bytes', 'labels are refused without their text');
select qwf_test.explains($$ select qwf.enqueue('mail', backoff => value) from big $$,
  '%not a value of more than 10,000 bytes', 'so is a backoff');
select qwf_test.explains($$ select qwf.enqueue_many(jsonb_build_array(value -> 'x')) from big $$,
  '%a value of more than 10,000 bytes', 'an item that is a text');

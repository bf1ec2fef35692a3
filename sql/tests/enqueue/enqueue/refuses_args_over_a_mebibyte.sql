-- 3 tests
select lives_ok($$
  select qwf.enqueue('mail', jsonb_build_object('x', repeat('x', 1048576 - 9)))
$$, '1 MiB fits');
select throws_ok($$
  select qwf.enqueue('mail', jsonb_build_object('x', repeat('x', 1048576 - 8)))
$$, 'QW005', 'value too large', 'a byte more does not');
select qwf_test.explains($$
  select qwf.enqueue('mail', jsonb_build_object('x', repeat('x', 1048576 - 8)))
$$, '%1048577 bytes, at most 1048576%', 'the error says how large');

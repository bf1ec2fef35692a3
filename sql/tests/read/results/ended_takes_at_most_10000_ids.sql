-- 2 tests
select throws_ok(
  $$ select qwf.ended(array_fill(1::bigint, '{6000}'), array_fill(1::bigint, '{4001}')) $$,
  'QW005', 'too many jobs and runs', 'one too many');
select lives_ok($$ select qwf.ended(run_ids => array_fill(1::bigint, '{10000}')) $$, 'as many');

-- 3 tests
select is_empty($$ select _qwf.cycles(3, '{1,2}', '{2,3}') $$, 'none in a chain');
select results_eq($$ select c from _qwf.cycles(6, '{1,2,3,4,5,3}', '{2,3,1,5,4,6}') c order by c $$,
  $$ values ('{1,2,3,1}'::int[]), ('{4,5,4}') $$, 'each on its own');
select results_eq($$ select c from _qwf.cycles(1, '{1}', '{1}') c $$, $$ values ('{1,1}'::int[]) $$,
  'a vertex that depends on itself');

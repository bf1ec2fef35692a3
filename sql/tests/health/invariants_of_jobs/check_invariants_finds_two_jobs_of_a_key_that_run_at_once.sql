-- 2 tests
select qwf.enqueue('t', key => 'a'), qwf.enqueue('t', key => 'b'), qwf.enqueue('t', key => 'c');
select count(*) from qwf.claim('default', 'w', 2);
select is_empty('select * from qwf.check_invariants()', 'jobs of two keys run');
update qwf.jobs set key = 'a', key_state = 'u', once = true where key = 'b';
select results_eq('select invariant, subject from qwf.check_invariants()',
  $$ select 'two jobs of a key never run at once', 'job ' || max(id) from qwf.jobs
     where key = 'a' $$,
  'two of one key run');

select qwf.enqueue('a');
update qwf.jobs set erased_parts = '{args}';
select results_eq('select invariant, detail from qwf.check_invariants()',
  $$ values ('an erased job has ended', 'queued, erased: args') $$);

select qwf.enqueue('a');
select results_eq($$ select verdict, task from qwf.finish_and_claim('[]', 'default', 'w') $$,
  $$ values (null::text, 'a') $$, 'then it is a claim');

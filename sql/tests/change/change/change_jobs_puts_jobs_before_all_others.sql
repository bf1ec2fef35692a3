-- 4 tests
select qwf.enqueue('first', priority => 1), qwf.enqueue('second', priority => 9);
select qwf.enqueue('third', priority => 500), qwf.enqueue('later', run_at => '2100-01-01');
select count(*) from qwf.change_jobs(
  array[qwf_test.job('later'), qwf_test.job('third')], priority => 300, run_next => true);
select is(array[qwf_test.claim('default'), qwf_test.claim('default')],
  array['claimed third', 'claimed later'], 'before all others, a scheduled one at once');
select is(qwf_test.claim('default'), 'claimed first', 'then the others, as before');
select results_eq('select distinct detail -> ''new'' ->> ''priority'',
    detail -> ''new'' -> ''run_next''
  from _qwf.event_log',
  $$ values ('300', 'true'::jsonb) $$, 'both are written');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

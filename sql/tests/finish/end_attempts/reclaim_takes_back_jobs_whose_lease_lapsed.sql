-- 4 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.set_now('2030-01-01');
select count(*) from qwf.claim('default', 'dead');
select count(*) from qwf.claim('default', 'slow', lease => '1 h');
select qwf_test.travel('30 s');
select is_empty('select _qwf.reclaim()', 'a lease holds until it expires');
select qwf_test.travel('1 ms');
select results_eq('select _qwf.reclaim()', $$ values (qwf_test.job('a')) $$,
  'the ids of the jobs whose lease lapsed');
select is_empty('select _qwf.reclaim()', 'once');
select results_eq('select status::text, losses, failures, attempt from qwf.jobs order by id', $$
  values ('queued', 1, 0, 1), ('running', 0, 0, 1), ('queued', 0, 0, 0) $$,
    'a loss; the others do not change');

-- 4 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id;
create temp table again (outcome text);
insert into again values ('released'), ('error'), ('tempfail'), ('lost');

select qwf.enqueue(outcome, queue => 'gpu', key => 'k', expires => '1 hour', max_attempts => 9,
    max_losses => 9, backoff => '[10]')
from again;
select is(qwf_test.gets(id, 9), 'released, error, tempfail, lost', 'all start') from worker;
select qwf_test.report(outcome, outcome) from again;
select qwf_test.travel('1 min'), qwf.tick();
select qwf.enqueue('behind', queue => 'gpu');
select results_eq(
  $$ select qwf_test.gets(id, 1) from worker, generate_series(1, 6) order by 1 $$,
  $$ values ('behind'), ('error'), ('lost'), ('nothing'), ('released'), ('tempfail') $$,
  'after any end of an attempt it starts again, and each claim of one hands one out');
select qwf_test.report(outcome) from again;
select qwf.enqueue('released', queue => 'gpu', key => 'k');
select is(qwf_test.gets(id, 9), 'released', 'and so does the next job of its key') from worker;
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');

begin;
select plan(1);

select qwf.enqueue('a');
select qwf_test.attempt('a', 'lost', error => 'gone', detail => '{"reason": "crashed"}');
select qwf_test.attempt('a');
select is(
  (select string_agg(attempt || ' ' || outcome || coalesce(' ' || reason, ''), ', ')
   from qwf.job_timeline),
  '1 lost crashed, 2 completed', 'in order');

select * from finish();
rollback;

begin;
select plan(1);

select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c', run_at => qwf.now() + interval '1 h');
select qwf.register_worker('box', 'default', '{"slots": 3}');
select qwf_test.claim('default');
select is(
  (select row(paused, workers, slots, queued, scheduled, running)::text
   from qwf.queue_depth where queue = 'default'),
  '(f,1,3,1,1,1)', 'and who serves the queue');

select * from finish();
rollback;

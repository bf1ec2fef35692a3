-- 4 tests
-- What kept an event from being applied has been put right: nobody is told of it any more.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.jam('s/b'), qwf_test.work();
do $$ begin
  for n in 1 .. 5 loop
    perform qwf.drain_outbox(), qwf_test.travel('1 min');
  end loop;
end $$;
select is((select count(*)::int from qwf.outbox where poisoned_at is not null), 1, 'given up');
select qwf_test.unjam(), qwf.retry_run(qwf_test.run());
select is_empty('select * from qwf.outbox', 'forgotten');
select qwf_test.work(), qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'it completes');
select is((select count(*)::int from _qwf.event_log where kind = 'poisoned'), 1,
  'the history has it');

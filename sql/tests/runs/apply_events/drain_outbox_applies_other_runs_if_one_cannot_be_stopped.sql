-- 2 tests
-- Giving up on an event has to work even where cancelling what is left of its run does not.
select qwf_test.workflow('bad', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf_test.workflow('good', '[{"id": "a"}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('bad');
select qwf_test.jam('s/b', true), qwf_test.work();
do $$ begin
  for n in 1 .. 4 loop
    perform qwf.drain_outbox(), qwf_test.travel('1 min');
  end loop;
end $$;
select qwf_test.unjam(), qwf_test.jam('s/c');
select qwf.enqueue_run('good');
select qwf_test.work(), qwf_test.unjam(), qwf_test.jam('s/b', true);
select lives_ok('select qwf.drain_outbox()', 'the fifth try of the bad one');
select is(qwf_test.nodes(), 's/a completed, s/c queued', 'the healthy run goes on');

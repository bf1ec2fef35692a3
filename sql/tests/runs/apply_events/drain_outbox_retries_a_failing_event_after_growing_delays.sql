-- 7 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf_test.jam('s/b'), qwf_test.report('s/a');
create function pg_temp.drain() returns text language plpgsql as $$
begin
  perform qwf.drain_outbox();
  return (select format('%s after %s', tries, next_try_at - qwf.now()) from qwf.outbox);
end $$;
select is(pg_temp.drain(), '1 after 00:00:01', 'the first try');
select is(pg_temp.drain(), '1 after 00:00:01', 'not before its time');
select qwf_test.travel('1 s');
select is(pg_temp.drain(), '2 after 00:00:02', 'the second');
select qwf_test.travel('2 s');
select is(pg_temp.drain(), '3 after 00:00:04', 'the third');
select qwf_test.travel('4 s');
select is(pg_temp.drain(), '4 after 00:00:08', 'the fourth');
select is((select error from qwf.outbox), 'P0001 s/b is jammed', 'it says why');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy meanwhile');

-- 6 tests
create function pg_temp.run() returns text language sql as $$
  select qwf_test.question('text', '{"signal": "paid", "expires": "2 days", "default": "late"}');
  select qwf_test.run_state() $$;
select is(qwf.signal('paid', '"x"', keep_for => '1 hour'), 0, 'nobody waits');
select is(pg_temp.run(), 'completed', 'it is kept');
select qwf_test.travel('61 min');
select is(pg_temp.run(), 'awaiting_input', 'for an hour');
select qwf.prune();
select is_empty('select * from qwf.signals', 'then it is deleted');
select qwf_test.travel('49 hours'), qwf.tick();
select is(qwf_test.run_state(), 'completed', 'the default');
select is((select output from qwf.jobs order by id desc limit 1), '{"answer": "late"}',
  'is the answer');

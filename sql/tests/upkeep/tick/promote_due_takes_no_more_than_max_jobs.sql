-- 2 tests
select count(*) from qwf.enqueue_many((
  select jsonb_agg(jsonb_build_object('task', 'a', 'run_at', qwf.now() + '1 min'))
  from generate_series(1, 3)));
select qwf_test.travel('1 h');
select is(_qwf.promote_due(2), 2, 'as many as it may');
select is(_qwf.promote_due(2), 1, 'the rest with the next call');

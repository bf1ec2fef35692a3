-- 3 tests
select setval('qwf.last_complete_tick', 0);  -- a sequence keeps what earlier tests set
select qwf_test.set_now('2030-01-01');
select qwf.enqueue_many((
  select jsonb_agg(jsonb_build_object('task', 't')) from generate_series(1, 150)));
select count(*) from qwf.claim('default', 'w', 150, '1 s');
select qwf_test.travel('1 min');
select is(qwf.tick('1 h') -> 'reclaimed', '100', 'a part is bounded');
select is(qwf.tick('1 h') -> 'reclaimed', '50', 'but the rest does not wait');
select is(qwf.tick('1 h') -> 'ran', 'false', 'when there is no more, it rests');

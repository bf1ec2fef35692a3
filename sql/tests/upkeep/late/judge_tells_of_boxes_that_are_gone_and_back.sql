-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_worker('box', 'cpu');
select qwf.enqueue('a', queue => 'cpu');
select qwf.claim('cpu', (select w.id from qwf.workers w));
create function pg_temp.told(p_travel interval) returns text language plpgsql as $$ begin
  perform qwf_test.travel(p_travel);
  perform _qwf.judge();
  return (select string_agg(e.kind, ' ' order by e.id) from _qwf.event_log e
    where e.kind ~ '(dead|back|broken)$'); end $$;
select is(pg_temp.told('5 s'), null, 'it lives');
select is(pg_temp.told('1 h'), 'worker_dead', 'an hour without a word');
select is((select detail from _qwf.event_log where kind = 'worker_dead'),
  '{"holds": 1, "queues": ["cpu"]}'::jsonb, 'what it holds is said');
select qwf.register_worker('box', 'cpu');
select is(pg_temp.told('11 s'), 'worker_dead worker_back', 'it has started again');
select is(pg_temp.told('11 s'), 'worker_dead worker_back', 'that is told once');

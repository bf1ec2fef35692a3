-- 6 tests
select qwf_test.set_now('2030-01-01');
select throws_ok($$ select qwf.create_queue('q', expect => '{"starts_in": 5}') $$, 'QW005',
  null, 'an unknown key is refused');
select qwf.create_queue('q', expect => '{"starts_within": "5 min"}');
create function pg_temp.told(p_travel interval) returns text language plpgsql as $$ begin
  perform qwf_test.travel(p_travel);
  perform _qwf.judge();
  return (select string_agg(e.kind, ' ' order by e.id)
    from _qwf.event_log e where e.kind like 'queue%s'); end $$;
select qwf.enqueue('a', queue => 'q');
select is(pg_temp.told('1 min'), null, 'the first job may wait');
select is(pg_temp.told('5 min'), 'queue_waits', 'until it waits for too long');
select is((select detail from _qwf.event_log where kind = 'queue_waits'),
  '{"head_wait": 360, "expected": 300}'::jsonb, 'how long is said');
select is(pg_temp.told('1 h'), 'queue_waits', 'it is told once');
select qwf.cancel_job(qwf_test.job('a'));
select is(pg_temp.told('1 min'), 'queue_waits queue_moves', 'and so is the end');

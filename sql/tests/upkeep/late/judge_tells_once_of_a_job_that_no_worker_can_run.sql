-- 8 tests
create function pg_temp.told(p_travel interval) returns text[] language plpgsql as $$ begin
  perform qwf_test.travel(p_travel);
  update qwf.workers set last_seen = qwf.now() where stopped_at is null;
  perform _qwf.judge(), _qwf.number_events();
  return array(select concat_ws(' ', e.subject, e.names ->> 'queue',
      regexp_replace(e.detail ->> 'error', ':[0-9a-f]{8}', ''))
    from _qwf.event_log e where e.kind = 'cannot_run_anywhere' order by e.id); end $$;
select qwf_test.set_now('2030-01-01');
select qwf.register_worker('box', q, '{"models": ["sdxl"]}') from unnest(array['gpu', 'llm']) q;
select qwf.enqueue('draw', queue => 'gpu', model => 'flux');
select qwf.enqueue('other', queue => 'cpu');
select is(pg_temp.told('30 s'), '{}', 'a box may be on its way');
select is(pg_temp.told('30 s'), array['draw gpu worker box:gpu: it does not know model flux'],
  'after a minute it is told, with what is missing; not of a queue that nobody serves');
select is(cardinality(pg_temp.told('1 h')), 1, 'once');
select qwf.change_job(qwf_test.job('draw'), queue => 'llm');
select is((pg_temp.told('1 h'))[2], 'draw llm worker box:llm: it does not know model flux',
  'until it needs something else');
create temp table new as select qwf.register_worker('new', 'llm', '{"models": ["flux"]}') as id;
select qwf.claim('llm', id) from new;
select pg_temp.told('11 s');
select qwf_test.report('draw', 'released');
select is(cardinality(pg_temp.told('1 min')), 2, 'it has run, and could again');
select qwf.deregister_worker(id) from new;
select is(cardinality(pg_temp.told('59 s')), 2, 'a worker that stopped may be starting again');
select is(cardinality(pg_temp.told('11 s')), 3, 'it did not');
select is_empty('select * from qwf.check_invariants()', 'no invariant is violated');

-- 4 tests
select qwf_test.workflow('w', '[{"id": "look",
  "repeat": {"until": {"$from": "item.ready"}, "max": 5}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/look[0]', 'completed', '{"ready": false}');
select qwf_test.attempt('s/look[1]', 'completed', '{"ready": false}');
select is_empty('select * from qwf.check_invariants()', 'a repeat in its third turn is healthy');

create function pg_temp.broken(p_change text) returns text language plpgsql as $$
declare
  v_found text;
begin
  execute p_change;
  select string_agg(regexp_replace(detail, '^.* counts', 'counts'), '; ') into v_found
  from qwf.check_invariants()
  where invariant = 'the turns of a repeat follow one another, and only the last may not be over';
  raise exception using message = coalesce(v_found, 'nothing');
exception
  when raise_exception then return sqlerrm;
end $$;
select is(pg_temp.broken($$ update qwf.jobs set status = 'queued', finished_at = null
  where node_id = 's/look[0]' $$), 'counts 3 turns, there are 3 up to 3, 2 not over',
  'two turns at once are found');
select is(pg_temp.broken($$ delete from qwf.jobs where node_id = 's/look[1]' $$),
  'counts 3 turns, there are 2 up to 3, 1 not over', 'a turn that was left out is found');
select is(pg_temp.broken($$ update qwf.jobs set elements = 2 where node_id = 's/look' $$),
  'counts 2 turns, there are 3 up to 3, 1 not over', 'a turn that is not counted is found');

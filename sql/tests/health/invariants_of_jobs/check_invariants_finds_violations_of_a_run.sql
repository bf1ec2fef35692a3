-- 9 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
create function pg_temp.finds(p_damage text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    execute p_damage;
    select string_agg(i.invariant, ', ' order by i.invariant) into v_found
    from qwf.check_invariants() i
    where i.subject = 'run ' || qwf_test.run() and i.detail <> '';
    raise exception 'undo';
  exception
    when raise_exception then return v_found;
  end;
end $$;
select alike(pg_temp.finds($$ delete from qwf.jobs where node_id = 's/b' $$),
  '%a run has all nodes of its graph%',
  'a node that is gone');
select is(pg_temp.finds('update qwf.runs set open_nodes = 1'),
  'open_nodes counts nodes that are not terminal', 'open_nodes');
select is(pg_temp.finds('update qwf.runs set active_nodes = 2'),
  'active_nodes counts nodes that can go on', 'active_nodes');
select is(pg_temp.finds('update qwf.runs set waiting_nodes = 1'),
  'waiting_nodes counts nodes that ask', 'waiting_nodes');
select alike(pg_temp.finds($$
  update qwf.jobs set status = 'blocked', remaining_deps = 1 where node_id = 's/a'
$$), '%a live run can go on%', 'a run that hangs');
select is(pg_temp.finds($$ update qwf.runs set status = 'awaiting_input' $$),
  'awaiting_input means that only people can go on', 'a state that is not so');
select is(pg_temp.finds($$
  update qwf.runs set status = 'cancelled', finished_at = qwf.now(), open_nodes = 0,
    active_nodes = 0
$$),
  'a run that is over has no waiting nodes', 'work that nobody wants');
select is(pg_temp.finds($$
  update qwf.jobs set status = 'cancelled', finished_at = qwf.now();
  update qwf.runs set status = 'cancelled', finished_at = qwf.now()
$$), 'the columns of a run agree with its state', 'a run that is over and counts open nodes');
select is(pg_temp.finds('select 1'), null, 'nothing else');

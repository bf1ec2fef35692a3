-- 6 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3]}, "max_parallel": 1}]');
select qwf.enqueue_run('w');
select qwf.enqueue('mail', expires => '1 h'), qwf.enqueue('plain');
create function pg_temp.finds(p_damage text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    execute p_damage;
    select string_agg(i.invariant || ' of ' || coalesce(j.node_id, j.task, 'nobody'), ', '
        order by j.id)
      into v_found
    from qwf.check_invariants() i left join qwf.jobs j on i.subject = 'job ' || j.id;
    raise exception 'undo';
  exception
    when raise_exception then return v_found;
  end;
end $$;
select is(pg_temp.finds('delete from qwf.waits'), 'waits has what jobs wait for of mail',
  'a job that would never expire');
select is(pg_temp.finds($$ insert into qwf.waits
  select j.id, 'question', j.queued_at from qwf.jobs j where j.task = 'plain' $$),
  'waits has what jobs wait for of plain', 'a question nobody asked');
select is(pg_temp.finds($$ update qwf.waits set at = at + interval '1 s' $$),
  'waits has what jobs wait for of mail', 'another time');
select is(pg_temp.finds($$ insert into qwf.waits values (0, 'question') $$),
  'waits has what jobs wait for of nobody', 'a job that is gone');
select is(pg_temp.finds('update qwf.jobs set next_element = 2 where elements = 3'),
  'no element before next_element of its map is blocked of s/m[1]',
  'an element that would never be opened');
select is(pg_temp.finds('select 1'), null, 'nothing else');

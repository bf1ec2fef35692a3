-- 4 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('invariants'), 'fine: check_invariants() finds nothing.', 'all hold');
select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 7);
update qwf.jobs set run_id = 99, graph_id = 1, node_idx = id, node_id = 'x' || id;
select is(count(*)::int, 6, 'the first five, and a count') from pg_temp.finds('invariants');
select is(count(*)::int, 5, 'each says what to do') from pg_temp.finds('invariants') f
where f ~ '^problem: .* -> this is a bug in qwf, or someone wrote to its tables: report it$';
select is(f, 'problem: and 2 more of that kind', 'how many more') from pg_temp.finds('invariants') f
where f ~ 'more of that kind';

-- The plan of a query, as EXPLAIN prints it without costs.

create function qwf_test.plan_of(p_query text) returns text
language plpgsql
as $$
declare
  v_line text;
  v_plan text := '';
begin
  for v_line in execute 'explain (costs off) ' || p_query loop
    v_plan := v_plan || v_line || E'\n';
  end loop;
  return v_plan;
end $$;
comment on function qwf_test.plan_of(text) is 'Plan of a query, a line for each node.';

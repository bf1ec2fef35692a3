-- 5 tests
create function pg_temp.problems(p_value jsonb, p_schema jsonb) returns setof _qwf.problem
language sql as $$ select * from _qwf.schema_problems(p_value, p_schema, 'value') $$;
create function pg_temp.zeros(p_count int) returns jsonb language sql as
$$ select jsonb_agg(0) from generate_series(1, p_count) $$;
create temp table few as
  select jsonb_agg('option number ' || i) as options from generate_series(1, 40) i;

select is(count(*)::int, 20, 'twenty are twenty')
from few, pg_temp.problems(pg_temp.zeros(20), jsonb_build_object('items', jsonb_build_object(
  'enum', options)));

select results_eq($$
  select p.path, p.problem from few, pg_temp.problems(pg_temp.zeros(200000),
    jsonb_build_object('items', jsonb_build_object('enum', options)))
    with ordinality p (path, problem, hint, n) where n > 20
$$, $$ values ('value', 'has more problems: only the first 20 are listed') $$,
  'of 200,000 the last row says that there are more');

select cmp_ok(sum(octet_length(p.path || p.problem)), '<', 12000::bigint, 'all of it is short')
from few, pg_temp.problems(pg_temp.zeros(200000), jsonb_build_object(
  'items', jsonb_build_object('enum', options))) p;

select cmp_ok(sum(octet_length(p.path || p.problem)), '<', 12000::bigint, 'also with long keys')
from pg_temp.problems(
  (select jsonb_object_agg(repeat(i::text, 20000), 1) from generate_series(100, 130) i),
  '{"additionalProperties": false}') p;

select is(
  (select p.problem from few, pg_temp.problems('0', jsonb_build_object('enum', options)) p),
  (select 'must be one of ' || options::text from few), 'one problem alone is told in full');

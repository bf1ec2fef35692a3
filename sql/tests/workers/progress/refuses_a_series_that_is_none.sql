-- 8 tests
select qwf.enqueue('a');
select qwf.claim('default', 'w');
create function pg_temp.says(p_series jsonb, p_detail text) returns text language plpgsql as $$
declare
  v_detail text;
begin
  begin
    perform qwf.progress(qwf_test.job('a'), qwf_test.token('a'), series => p_series);
  exception when sqlstate 'QW005' then
    get stacked diagnostics v_detail = pg_exception_detail;
  end;
  return is(v_detail, p_detail, p_detail);
end $$;
select pg_temp.says('[]', 'not an object with names');
select pg_temp.says('{"names": {}, "left_out": "x"}', 'not an object with names');
select pg_temp.says('{"names": {"a": 7}}', 'a: no points');
select pg_temp.says('{"names": {"a": {"points": [[1]]}}}', 'a: a point is not [step, value]');
select pg_temp.says('{"names": {"a": {"points": [[null, 1]]}}}',
  'a: a point is not [step, value]');
select pg_temp.says(jsonb_build_object('names', jsonb_build_object('a', jsonb_build_object(
  'points', (select jsonb_agg(jsonb_build_array(n, n)) from generate_series(1, 501) n)))),
  'a: more than 500 points');
select pg_temp.says(jsonb_build_object('names', (
  select jsonb_object_agg('n' || n, '{"points": []}'::jsonb) from generate_series(1, 21) n)),
  'more than 20 names');
select is_empty('select * from qwf.attempt_series', 'nothing is written');

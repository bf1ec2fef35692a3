-- 2 tests
select qwf_test.question('json', '{"schema": {"required": ["a.b", "c\nd: e", ""], "properties": {
  "a.b": {}, "c\nd: e": {}, "": {}, "größe": {"type": "number"},
  "list": {"items": {"properties": {"a: b": {"type": "string", "pattern": "^x\n$"}}}}}}}');
create function pg_temp.detail() returns text language plpgsql as $$
declare
  v_detail text;
begin
  perform qwf.submit_input(qwf_test.run(), 'ask', '{"list": [{"a: b": "y"}], "größe": "tall"}');
  return 'accepted';
exception
  when sqlstate 'QW005' then
    get stacked diagnostics v_detail = pg_exception_detail;
    return v_detail;
end $$;
select set_eq($$ select regexp_split_to_table(pg_temp.detail(), '\n') $$, array[
  'value["a.b"]: is missing', 'value["c\nd: e"]: is missing', 'value[""]: is missing',
  'value.list[0]["a: b"]: must match ^x $', 'value.größe: must be of type number, not string'],
  'a line for each problem, and odd keys are quoted');
select set_eq($$
  select m[1] from regexp_split_to_table(pg_temp.detail(), '\n') line
  cross join lateral regexp_match(line,
    '^(value(?:\.[^].:"[\\\s]+|\[[0-9]+\]|\["(?:[^"\\]|\\.)*"\])*): ') m $$, array[
  'value["a.b"]', 'value["c\nd: e"]', 'value[""]', 'value.list[0]["a: b"]', 'value.größe'],
  'one regular expression finds the paths');

-- any number of tests
create function pg_temp.answer(p_filter text) returns text language plpgsql as $$
declare
  v_detail text;
  v_hint text;
begin
  perform qwf.find_jobs(p_filter::jsonb);
  return 'taken';
exception
  when sqlstate 'QW005' then
    get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    return sqlerrm || ': ' || v_detail || ': ' || v_hint;
end $$;
select is(pg_temp.answer('{"staus": "failed"}'),
  'unknown key: filter.staus: did you mean status?', 'a mistyped key');
select is(pg_temp.answer('{"status": "faild"}'),
  'unknown status: filter.status: faild: did you mean failed?', 'a mistyped state');
select alike(pg_temp.answer(f), '%: %', f)
from unnest(array['[]', 'null', '7', '{"status": {}}', '{"status": [null]}', '{"status": 7}',
  '{"task": ["a"]}', '{"task": 7}', '{"labels": "x"}', '{"labels": []}', '{"run_id": "7"}',
  '{"run_id": 1.5}', '{"run_id": 1e30}', '{"since": "soon"}', '{"since": "20000-01-01"}',
  '{"until": 7}', '{"queue": {"a": 1}}']) f;
select is(pg_temp.answer(f), 'taken', f)
from unnest(array['{}', '{"status": null}', '{"args": [1]}', '{"args": null}',
  '{"since": "-infinity"}', '{"run_id": -1}']) f;
select throws_ok(format('select * from qwf.find_jobs(%s)', bound), 'QW005', 'invalid bound', bound)
from unnest(array['look_back => 0', 'look_back => 1000001', 'max_rows => null', 'max_rows => 0'])
  bound;

-- 22 tests
create function pg_temp.hint() returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform qwf.change_settings('{"leese": "1 min"}');
  return null;
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return v_hint;
end $$;
select throws_ok($$ select qwf.change_settings('[]') $$, 'QW005', 'invalid settings');
select throws_ok('select qwf.change_settings(null)', 'QW005', 'invalid settings');
select throws_ok($$ select qwf.change_settings('{"singleton": false}') $$, 'QW005',
  'no such setting');
select throws_ok($$ select qwf.change_settings('{"leese": "1 min"}') $$, 'QW005',
  'no such setting');
select qwf_test.explains($$ select qwf.change_settings('{"leese": "1 min"}') $$,
  'setting ''leese''', 'a name that does not exist');
select is(pg_temp.hint(),
  'did you mean lease? all settings: select * from qwf.setting_overview', 'the nearest name');
select throws_ok($$ select qwf.change_settings('{"lease": "soon"}') $$, 'QW005',
  'invalid setting');
select throws_ok($$ select qwf.change_settings('{"stall_samples": "many"}') $$, 'QW005',
  'invalid setting');
select throws_ok($$ select qwf.change_settings('{"max_value_bytes": 2000000000}') $$, 'QW005',
  'setting out of range', 'a value that would let a job stop its queue');
select throws_ok($$ select qwf.change_settings('{"error_backoff": true}') $$, 'QW005',
  'invalid setting');
select throws_ok($$ select qwf.change_settings('{"stall_samples": 99999999999}') $$, 'QW005',
  'invalid setting');
select throws_ok($$ select qwf.change_settings('{"error_backoff": "[1]"}') $$, 'QW005',
  'invalid setting');
select throws_ok($$ select qwf.change_settings('{"lease": "5 days"}') $$, 'QW005',
  'setting out of range');
select qwf_test.explains($$ select qwf.change_settings('{"lease": "5 days"}') $$,
  '%; required: lease >= ''00:00:01'' AND lease <= ''1 day''', 'the range');
select throws_ok($$ select qwf.change_settings('{"poll": "1 week", "lease": "1 min"}') $$, 'QW005',
  'setting out of range');

select throws_ok(format('select qwf.change_settings(%L)', jsonb_build_object('secret_keys', k)),
  'QW005', null, k::text)
from unnest(array['["a", ""]', '["a", null]', '"a"', '{"a": 1}']::jsonb[]) k;
select throws_ok(
  format('select qwf.change_settings(%L)', jsonb_build_object('retention', r.value)), 'QW005',
  'invalid setting', 'who keeps jobs for 7 means days')
from unnest(array['"7"', '7', '" 0.5 "']::jsonb[]) r (value);

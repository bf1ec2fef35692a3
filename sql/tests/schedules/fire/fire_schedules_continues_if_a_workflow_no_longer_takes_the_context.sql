-- 3 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('x', workflow => 'w', cron => '*/5 * * * *');
select qwf.register_pipeline('{"name": "w", "nodes": [{"id": "a", "node": "a"}], "inputs": {
  "type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}');
select qwf_test.set_now('2026-03-01 12:05:00+00');
select is(_qwf.fire_schedules(), 0, 'it does not fire');
select results_eq($$ select next_at, last_error ~ '^QW00[35]: ' from qwf.schedules $$,
  $$ values ('2026-03-01 12:10:00+00'::timestamptz, true) $$, 'and says why');
select is_empty('select * from qwf.runs', 'no part of a run is left');

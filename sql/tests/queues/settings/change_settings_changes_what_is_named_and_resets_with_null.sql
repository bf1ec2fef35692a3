-- 5 tests
create temp table before as select * from qwf.settings;
select qwf.change_settings('{"lease": "1 min", "heartbeat": 15, "stall_samples": 5,
  "events_keep": "60 days", "error_backoff": [2, 4], "idle_ram_bytes": 1000}');
select results_eq($$ select lease, heartbeat, stall_samples, events_keep, error_backoff,
    idle_ram_bytes from qwf.settings $$,
  $$ values ('1 min'::interval, '15 s'::interval, 5, '60 days'::interval, '[2, 4]'::jsonb,
    1000::bigint) $$,
  'in the types of the columns');
select results_eq('select timeout, retention from qwf.settings',
  'select timeout, retention from before', 'the others stay');
select qwf.change_settings('{"lease": null, "heartbeat": null, "events_keep": null}');
select results_eq('select lease, events_keep, stall_samples from qwf.settings',
  $$ values ('30 s'::interval, '90 days'::interval, 5) $$, 'null sets the default');
select qwf.change_settings(
  (select jsonb_object_agg(o.name, 'null'::jsonb) from qwf.setting_overview o));
select results_eq('table qwf.settings', 'table before', 'each of them');
select lives_ok($$ select qwf.change_settings('{}') $$, 'no change');

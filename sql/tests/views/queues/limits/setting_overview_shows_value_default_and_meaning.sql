-- 3 tests
select qwf.change_settings('{"lease": "2 min", "secret_keys": ["iban", "it''s"]}');
select results_eq($$
  select name, value, default_value, unit from qwf.setting_overview
  where name in ('lease', 'stall_samples', 'idle_ram_bytes', 'error_backoff', 'events_keep',
    'secret_keys')
$$, $$ values ('lease', '"00:02:00"'::jsonb, '"00:00:30"'::jsonb, 'time'),
  ('stall_samples', '3', '3', 'number'), ('idle_ram_bytes', '5368709120', '5368709120', 'bytes'),
  ('error_backoff', '[1, 5, 30]', '[1, 5, 30]', 'seconds'),
  ('secret_keys', '["iban", "it''s"]', '["password", "passwd", "token", "secret",
    "authorization", "api_key", "apikey"]', 'texts'),
  ('events_keep', '"90 days"', '"90 days"', 'time') $$, 'in the order of the table');
select is_empty('select name from qwf.setting_overview where about is null or value is null
  or default_value is null', 'all of them complete');
select is((select count(*) from qwf.setting_overview), (
  select count(*) - 1 from jsonb_object_keys((select to_jsonb(s) from qwf.settings s))),
  'each setting once');

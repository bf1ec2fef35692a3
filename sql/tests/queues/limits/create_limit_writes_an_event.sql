select qwf.create_limit('api', 2), qwf.create_limit('api', 2), qwf.create_limit('api', 3),
  qwf.drop_limit('api');
select results_eq($$ select kind, subject, login, detail from qwf.audit order by id $$, $$ values
  ('limit_changed', 'api', qwf_test.login(), '{"new": {"keyed": false, "max_running": 2}}'::jsonb),
  ('limit_changed', 'api', qwf_test.login(),
    '{"old": {"max_running": 2}, "new": {"max_running": 3}}'),
  ('limit_changed', 'api', qwf_test.login(), '{"old": {"keyed": false, "max_running": 3}}')
$$, 'created, changed and dropped');

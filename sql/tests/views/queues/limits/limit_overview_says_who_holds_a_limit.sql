-- 2 tests
select qwf.create_limit('api', 1), qwf.create_limit('smtp', starts => 5, per => '1 min');
select qwf.enqueue('a', limit_by => 'api'), qwf.enqueue('b', limit_by => 'api'),
  qwf.enqueue('c', limit_by => 'smtp');
select count(*) from qwf.claim('default', 'w', 5);
select results_eq($$ select name, max_running, running, starts, per, started, cardinality(jobs),
    queued, held -> 0 ->> 'task' from qwf.limit_overview $$, $$ values
  ('api', 1, 1::bigint, null::int, null::interval, null::bigint, 1, 1::bigint, 'a'),
  ('smtp', 10000, 1, 5, '1 min', 1, 1, 0, 'c') $$, 'by name');
select is((select jsonb_array_length(held) from qwf.limit_overview where name = 'api'), 1,
  'only slots that are held');

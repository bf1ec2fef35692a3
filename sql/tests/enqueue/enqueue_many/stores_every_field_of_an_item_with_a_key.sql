-- 2 tests
select qwf.create_limit('llm', 1);
create temp table item as select jsonb '[{"task": "mail", "args": {"to": "Ada"}, "queue": "cpu",
  "priority": 7, "run_at": "2099-01-01T00:00Z", "max_attempts": 2, "max_losses": 4,
  "backoff": [3], "timeout": "4 s", "model": "m", "vram_mb": 5, "requires": {"a": "1"},
  "limit_by": "llm", "on_failure": "ask", "expires": "6 h", "project": "p",
  "labels": {"b": 2}, "light": true, "at_most_once": true}]' as jobs;
create temp table made as
select m.*
from item i cross join lateral qwf.enqueue_many(i.jobs || jsonb_build_array(
  i.jobs -> 0 || '{"key": "k"}', i.jobs -> 0 || '{"key": "r", "args": {}, "labels": {}}',
  i.jobs -> 0 || '{"key": "r", "key_mode": "replace"}'))
  with ordinality m (id, merged, kept, run_at, n);
create function pg_temp.stored(p_n bigint) returns jsonb language sql as $$
  select to_jsonb(j) - '{id,created_at,key,key_state,position}'::text[]
  from made m join qwf.jobs j on j.id = m.id where m.n = p_n $$;
select is(pg_temp.stored(2), pg_temp.stored(1), 'as without a key');
select is(pg_temp.stored(4), pg_temp.stored(1), 'replaced, too');

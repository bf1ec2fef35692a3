-- The job that held the key ended between the statement that found it taken and the next.
begin;
select plan(1);

select qwf.create_limit('llm', 1);
create temp table item as select jsonb '[{"task": "mail", "args": {"to": "Ada"}, "queue": "cpu",
  "priority": 7, "run_at": "2099-01-01T00:00Z", "key": "k", "max_attempts": 2, "backoff": [3],
  "timeout": "4 s", "model": "m", "vram_mb": 5, "requires": {"a": 1}, "limit_by": "llm",
  "on_failure": "ask", "expires": "6 h", "project": "p", "labels": {"b": 2}}]' as jobs;
create function pg_temp.made(p_id bigint) returns jsonb language sql as $$
  select to_jsonb(j) - '{id,created_at,status,finished_at}'::text[]
  from qwf.jobs j where j.id = p_id $$;
create temp table usual as select pg_temp.made(e.id) as row, qwf.cancel_job(e.id)
from item i cross join lateral (select qwf.enqueue_many(i.jobs) as id) e;
create temp table late as
select (qwf._ids_of_taken_keys(qwf._read_jobs(i.jobs), array[null]::bigint[]))[1] as id from item i;
select is((select pg_temp.made(l.id) from late l), (select u.row from usual u),
  'it is enqueued after all, just as it would have been');

select * from finish();
rollback;

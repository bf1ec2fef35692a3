-- The job that held the key ended between the statement that found it taken and the next.
begin;
select plan(2);

select qwf.create_limit('llm', 1);
create temp table item as select jsonb '[{"task": "mail", "args": {"to": "Ada"}, "queue": "cpu",
  "priority": 7, "run_at": "2099-01-01T00:00Z", "key": "k", "max_attempts": 2, "max_losses": 4,
  "backoff": [3], "timeout": "4 s", "model": "m", "vram_mb": 5, "requires": {"a": "1"},
  "limit_by": "llm", "on_failure": "ask", "expires": "6 h", "project": "p",
  "labels": {"b": 2}}]' as jobs;
create function pg_temp.made(p_id bigint) returns jsonb language sql as $$
  select to_jsonb(j) - '{id,created_at,status,finished_at}'::text[]
  from qwf.jobs j where j.id = p_id $$;
create temp table usual as select e.id, pg_temp.made(e.id) as row
from item i cross join lateral (select qwf.enqueue_many(i.jobs) as id) e;
create or replace function _qwf.wake(p_queue text, p_count int) returns void language plpgsql as $$
begin  -- called for the other item between the two statements: the job is cancelled just then
  perform qwf.cancel_job(u.id) from usual u
  where not exists (select from qwf.jobs j where j.id = u.id and j.finished_at is not null);
end $$;
create temp table late as
select (array(select qwf.enqueue_many('[{"task": "other"}]' || i.jobs)))[2] as id from item i;
select isnt((select l.id from late l), (select u.id from usual u), 'it is enqueued after all');
select is((select pg_temp.made(l.id) from late l), (select u.row from usual u),
  'just as it would have been');

select * from finish();
rollback;

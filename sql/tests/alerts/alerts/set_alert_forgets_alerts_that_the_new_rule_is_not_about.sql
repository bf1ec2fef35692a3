-- 4 tests
-- No event would end them, and they would be told again every six hours.
create function pg_temp.set_rule(p_more jsonb) returns void language sql as $$
  select qwf.set_alert('r', '{"when": ["worker_dead", "job_failed"], "do": {"receiver": "ops"}}'
    || p_more) $$;
create function pg_temp.open() returns text language sql as $$
  select string_agg(o.subject, ' ' order by o.subject) from qwf.open_alerts o $$;
select pg_temp.set_rule('{}');
insert into _qwf.event_log (kind, subject, names)
select k, k, '{"project": "p"}' from unnest('{worker_dead,job_failed}'::text[]) k;
select count(*) from _qwf.number_and_match();
select pg_temp.set_rule('{"repeat": "1 h", "do": {"receiver": "ada"}}');
select is(pg_temp.open(), 'job_failed worker_dead', 'other times or another receiver: they go on');
select pg_temp.set_rule('{"when": ["worker_dead", "lost"]}');
select is(pg_temp.open(), 'worker_dead', 'another kind');
select pg_temp.set_rule('{"when": ["worker_dead"], "where": {"project": "q"}}');
select is(pg_temp.open(), null, 'another project');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

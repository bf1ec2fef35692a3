-- 2 tests
create or replace function qwf.version() returns text language sql stable
as 'select ''late'' from pg_sleep(600)';
set local statement_timeout = '2 s';
create temp table found as select * from qwf.metrics;
set local statement_timeout = 0;
select results_eq($$
  select distinct f.name from found f
  where f.name in ('qwf_queued_jobs', 'qwf_off_seconds', 'qwf_schema_info', 'qwf_tick_age_seconds')
$$, $$ values ('qwf_queued_jobs') $$, 'the part as a whole, and those after it');
select cmp_ok((select f.value from found f where f.name = 'qwf_unreadable'), '>', 1::float8,
  'all of them are counted');

-- 5 tests
create temp table found (name text, labels jsonb, value float8, kind text, help text);
grant insert on found to public;

set local role qwf_viewer;
insert into found select * from qwf.metrics;
select throws_ok('select _qwf.metrics_of(''tables'')', '42501', null,
  'nobody calls by name what the view calls');
reset role;
select is((select f.value from found f where f.name = 'qwf_unreadable'), 1::float8,
  'a viewer reads all but one');
select is_empty($$ select f.name from found f where f.name = 'qwf_oldest_snapshot_seconds' $$,
  'that of other people''s transactions');

grant pg_read_all_stats to qwf_viewer;
truncate found;
set local role qwf_viewer;
insert into found select * from qwf.metrics;
reset role;
select ok(exists (select from found f where f.name = 'qwf_oldest_snapshot_seconds'),
  'which a member of pg_read_all_stats reads');
select is((select f.value from found f where f.name = 'qwf_unreadable'), 0::float8,
  'and then nothing is missing');

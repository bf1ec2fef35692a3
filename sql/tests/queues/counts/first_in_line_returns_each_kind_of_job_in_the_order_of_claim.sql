-- 5 tests
select qwf.create_limit('mail', 2), qwf.create_limit('customer', 1, keyed => true);
create temp table made (name text, id bigint);
grant insert on made to public;
insert into made select 'plain', qwf.enqueue('t');
insert into made select 'urgent', qwf.enqueue('t', priority => 1);
insert into made select 'next', qwf.enqueue('t');
insert into made select 'mail', qwf.enqueue('t', limit_by => 'mail', priority => 1);
insert into made select 'acme', qwf.enqueue('t', limit_by => 'customer:acme', priority => 5);
insert into made select 'acme, later', qwf.enqueue('t', limit_by => 'customer:acme', priority => 5);
insert into made select 'bob, urgent', qwf.enqueue('t', limit_by => 'customer:bob', priority => 4);
insert into made select 'elsewhere', qwf.enqueue('t', queue => 'cpu');
insert into made select 'later', qwf.enqueue('t', run_at => now() + interval '1 h');
select qwf.change_job((select id from made where name = 'next'), run_next => true);

create function pg_temp.line(max_rows int) returns text[] language sql as $$
  select array_agg(m.name order by f.nth)
  from qwf.first_in_line('default', max_rows) with ordinality
    f (job_id, task, run_id, node_id, priority, run_next, limit_by, queued_at, nth)
  join made m on m.id = f.job_id
$$;
select is(pg_temp.line(20),
  '{next,urgent,plain,mail,"bob, urgent",acme,"acme, later"}',
  'without a limit, then of a limit, then of a limit that counts by key');
select is(pg_temp.line(1), '{next,mail,"bob, urgent"}', 'the first of each');
select throws_ok($$ select * from qwf.first_in_line('nobody') $$, 'QW006');
select throws_ok($$ select * from qwf.first_in_line('default', -1) $$, 'QW005');

insert into qwf.jobs (task, queue, status, position, queued_at)
select 't', 'default', 'queued', nextval('qwf.job_position'), now() from generate_series(1, 3000);
insert into qwf.jobs (task, queue, status, position, queued_at, limit_by)
select 't', 'default', 'queued', nextval('qwf.job_position'), now(), 'mail'
from generate_series(1, 3000);
insert into qwf.jobs (task, queue, status, position, queued_at, limit_by, limit_place)
select 't', 'default', 'queued', nextval('qwf.job_position'), now(), 'customer:acme',
  (select limit_place from qwf.jobs where limit_by = 'customer:acme' limit 1)
from generate_series(1, 3000);
create function pg_temp.blocks_read(query text) returns int language plpgsql as $$
declare v json;
begin
  execute 'explain (analyze, buffers, timing off, format json) ' || query into v;
  return (v #>> '{0,Plan,Shared Hit Blocks}')::int + (v #>> '{0,Plan,Shared Read Blocks}')::int;
end $$;
select pg_temp.blocks_read('select * from qwf.first_in_line(''default'')');
select cmp_ok(pg_temp.blocks_read('select * from qwf.first_in_line(''default'')'), '<', 100,
  'and reads no more jobs than it returns');

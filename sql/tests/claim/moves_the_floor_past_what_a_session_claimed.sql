begin;
select plan(6);

create or replace function qwf.now() returns timestamptz language sql volatile as
  'select pg_catalog.now()';
create function pg_temp.add(p_task text, p_priority int, p_count int) returns bigint
language sql as $$
  select count(qwf.enqueue(p_task, queue => 'cpu', priority => p_priority))
  from generate_series(1, p_count)
$$;
create function pg_temp.claim(p_most int) returns bigint language sql as
  $$ select count(*) from qwf.claim('cpu', 'w', p_most) $$;
create function pg_temp.band(p_priority int, p_key text) returns bigint language sql as $$
  select (b ->> p_key)::bigint
  from jsonb_array_elements(_qwf.read_hints('qwf.floors') -> 'cpu ' -> 'bands') b
  where (b ->> 'priority')::int = p_priority
$$;
create function pg_temp.of(p_task text) returns bigint language sql as
  $$ select max(j.position) from qwf.jobs j where j.task = p_task $$;

select pg_temp.add('a', 10, 300), pg_temp.add('b', 20, 300), pg_temp.add('c', 20, 300);
select _qwf.write_hints('qwf.floors', jsonb_build_object('cpu ', jsonb_build_object(
  'until', qwf.now() + interval '1 s',
  'bands', '[{"priority": 20, "position": 1, "base": 1}]'::jsonb)));
select pg_temp.claim(600);
select results_eq(
  $$ select p, pg_temp.band(p, 'passed') from unnest('{10,20}'::int[]) p $$,
  $$ values (10, null::bigint), (20, null) $$, 'a claim that takes all it passes moves nothing');

select pg_temp.claim(200);
select is(pg_temp.band(20, 'position'), 1::bigint,
  'a long walk leaves the floor: what is about to commit may lie before the jobs');
select is(pg_temp.band(20, 'passed'), pg_temp.of('c') - 100, 'and notes how far it came');
select pg_temp.add('a', 10, 300), pg_temp.claim(400);
select is(pg_temp.band(20, 'position'), pg_temp.of('c') - 100, 'the next one moves it there');
select is(pg_temp.band(10, 'passed'), (select last_value from qwf.job_position),
  'it learns priorities, and came to the end if it found too few jobs');
select is(pg_temp.band(20, 'base'), 1::bigint, 'the base stays');

select * from finish();
rollback;

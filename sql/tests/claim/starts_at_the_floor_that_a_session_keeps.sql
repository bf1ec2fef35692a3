begin;
select plan(27);

create or replace function qwf.now() returns timestamptz language sql volatile as
  'select pg_catalog.now()';

create function pg_temp.take(p_most int) returns text language sql as $$
  select string_agg(c.task, ' ' order by c.ord)
  from qwf.claim('cpu', 'w', p_most) with ordinality c (
    job_id, token, run_id, node_id, task, queue, inputs, attempt, timeout, stall_timeout,
    required_model, out_dir, lease_expires_at, project, labels, light, created_at, ord)
$$;
create function pg_temp.keep(p_task text, p_for interval) returns void language sql as $$
  select _qwf.write_hints('qwf.floors', jsonb_build_object('cpu ', jsonb_build_object(
    'until', qwf.now() + p_for, 'bands', jsonb_build_array(jsonb_build_object(
      'priority', j.priority, 'position', greatest(j.position, 0))))))
  from qwf.jobs j where j.task = p_task
$$;
create function pg_temp.give_back(p_task text) returns text language sql as $$
  select qwf.finish(j.id, j.token, 'released') from qwf.jobs j where j.task = p_task
$$;
select qwf.enqueue(task, queue => 'cpu') from unnest('{a,b,c,d,e,f}'::text[]) task;
select qwf.register_worker('box', 'cpu');
select pg_temp.keep('c', '1 s');
select qwf.enqueue('urgent', queue => 'cpu', priority => 5),
  qwf.enqueue('idle', queue => 'cpu', priority => 500),
  qwf.change_job(qwf.enqueue('next', queue => 'cpu', priority => 500), run_next => true);

select is(pg_temp.take(1), 'next', 'run_next comes before the floor');
select is(pg_temp.take(2), 'urgent c', 'a lower priority number comes before it, too');
select count(pg_temp.give_back(task)) from unnest('{c,urgent}'::text[]) task;
select is(pg_temp.take(3), 'urgent c d', 'a job given back to the front is found');
select is(pg_temp.take(2), 'e f', 'then the jobs from the floor on, and none before');
select is(pg_temp.take(3), 'idle', 'higher priority numbers come after');
select is(pg_temp.take(1), null, 'while it is valid, no claim looks below it');

select qwf.enqueue('g', queue => 'cpu');
select pg_temp.keep('g', '-1 s');
select is(pg_temp.take(1), 'a', 'a lapsed floor is ignored');
select _qwf.write_hints('qwf.floors',
  '{"gpu ": {"bands": [{"priority": 1, "position": 1}], "until": "2999-01-01"}}');
select is(pg_temp.take(1), 'b', 'the floor of another queue is ignored');

select pg_temp.give_back('b'), qwf.enqueue('h', queue => 'cpu');
select pg_temp.keep('b', '1 s');
select is(pg_temp.take(1), 'b', 'a job given back is found even if the floor was found at it');
select qwf.enqueue(task, queue => 'cpu') from unnest('{i,j}'::text[]) task;
select pg_temp.keep('j', '1 h');
select is(pg_temp.take(1), 'g', 'a floor in the future, after the clock was set back, is ignored');
select pg_temp.keep('j', '1 s'),
  _qwf.write_hints('qwf.floors',
    replace(_qwf.read_hints('qwf.floors')::text, '"cpu "', '"cpu x"')::jsonb);
select is(pg_temp.take(1), 'h', 'so is the floor of another worker');

select count(qwf.enqueue('unfit', queue => q, priority => 1, requires => '{"disk": "nvme"}'))
from unnest('{cpu,gpu}'::text[]) q, generate_series(1, 600);
create sequence pg_temp.moment;
create function pg_temp.clock() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01'
    + currval('pg_temp.moment') * current_setting('my.step')::interval $$;
create or replace function qwf.now() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01'
    + nextval('pg_temp.moment') * current_setting('my.step')::interval $$;
create function pg_temp.found(p_queue text, p_step text)
returns table (bands text, counts_for interval)
language sql volatile as $$
  select set_config('my.step', p_step, false);
  select (select string_agg(format('%s %s', b.priority, b.position), ', ') from unnest(f.bands) b),
    f.until - pg_temp.clock()
  from qwf.workers w, _qwf.keep_floor(p_queue, w) f
$$;
select is((select f.bands from pg_temp.found('cpu', '2 ms') f),
  (select format('100 %s', j.position) from qwf.jobs j where j.task = 'i'),
  'a floor is a job that fits the worker');
select is((select f.counts_for from pg_temp.found('cpu', '2 ms') f), '0.1 s',
  'found quickly, it is valid for a tenth of a second');
select is((select f.counts_for from pg_temp.found('cpu', '30 ms') f), '0.6 s',
  'else for twenty times as long as that took');
select is((select f.counts_for from pg_temp.found('cpu', '3 s') f), '1 s',
  'and at most for a second');
select is((select f.bands from pg_temp.found('llm', '2 ms') f), null,
  'an empty queue needs none');
select _qwf.write_hints('qwf.floors', jsonb_build_object(
  'gpu ' || w.id, '{"bands": [{"priority": 7}]}'::jsonb))
from qwf.workers w;
select is((select f.bands from pg_temp.found('gpu', '2 ms') f),
  (select format('1 %1$s, 7 %1$s', last_value) from qwf.job_position),
  'or the end; the priorities are those of the last jobs and of the last floor');

create function pg_temp.floor(p_key text, p_nth int default 0) returns text language sql as
  $$ select coalesce(f -> p_key, f -> 'bands' -> p_nth -> p_key) #>> '{}'
  from qwf.workers w, lateral (select _qwf.read_hints('qwf.floors') -> ('cpu ' || w.id)) r (f) $$;
create function pg_temp.settle() returns void language sql as
  $$ select _qwf.write_hints('qwf.floors', jsonb_set(
    _qwf.read_hints('qwf.floors'), array['cpu ' || w.id, 'mark_xid'], '"1"'))
  from qwf.workers w $$;
create function pg_temp.again(p_step text) returns bigint language sql as
  $$ select count(*) from pg_temp.found('cpu', p_step) $$;
select set_config('qwf.floors', '', false);
select pg_temp.again('30 ms');
select is(pg_temp.floor('base'), null,
  'a first floor is no base: what is about to commit may lie below it');
create function pg_temp.with_mark(p_mark jsonb) returns text language sql as $$
  select _qwf.write_hints('qwf.floors', jsonb_set(
    _qwf.read_hints('qwf.floors'), array['cpu ' || w.id],
    _qwf.read_hints('qwf.floors') -> ('cpu ' || w.id) || p_mark))
  from qwf.workers w;
  select pg_temp.again('30 ms');
  select pg_temp.floor('base') $$;
select is(pg_temp.with_mark('{"mark_at": "2999-01-01", "mark_xid": "9000000000000"}'), null,
  'a clock that is set back settles no mark');
select is(pg_temp.with_mark('{"mark": null, "mark_xid": "1"}'), null,
  'after a walk with an old snapshot there is no mark that could settle');
select set_config('my.mark', pg_temp.floor('mark'), false), pg_temp.settle();
select count(*) from qwf.workers w, qwf.claim('cpu', w.id, 1000);
select qwf.enqueue('k', queue => 'cpu'), pg_temp.again('30 ms');
select results_eq(
  $$ select pg_temp.floor('base')::bigint, pg_temp.floor('position')::bigint $$,
  $$ select current_setting('my.mark')::bigint, position from qwf.jobs where task = 'k' $$,
  'a base is where positions had come before all open transactions began');
update qwf.jobs set position = 1 where task = 'k';
select pg_temp.again('30 ms');
select is(pg_temp.floor('position'), pg_temp.floor('mark'), 'the next walk starts there');
update qwf.jobs set priority = 90 where task = 'k';
select pg_temp.again('30 ms');
select is(pg_temp.floor('priority'), '90', 'but sees lower priorities');
update qwf.jobs set priority = 100 where task = 'k';
select pg_temp.again('2 min');
select is(pg_temp.floor('position', 1), '1', 'and from time to time one starts at the beginning');
select set_config('my.step', '0', false), _qwf.write_hints('qwf.floors', jsonb_build_object(
  'default ' || w.id, '{}'::jsonb))
from qwf.workers w;
select is((select f.until from qwf.workers w, _qwf.keep_floor('default', w) f), null,
  'if a walk is short there is no floor');
select is(current_setting('qwf.floors'), '', 'and an old one is dropped');

select _qwf.write_hints('qwf.floors', '{
  "gpu x": {"until": "2030-01-01 00:00:00+00"},
  "cpu y": {"until": "2029-12-01 00:00:00+00"}}');
select pg_temp.again('0');
select results_eq(
  $$ select k from jsonb_object_keys(_qwf.read_hints('qwf.floors')) k order by k $$,
  $$ select 'cpu ' || w.id from qwf.workers w union all select 'gpu x' $$,
  'each worker and queue of a session has its own; an unused one is dropped');

select * from finish();
rollback;

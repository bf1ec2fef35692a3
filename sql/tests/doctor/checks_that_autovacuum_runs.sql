begin;
select plan(3);

create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('vacuum'), 'fine: Autovacuum keeps up with dead rows.', 'it does');
alter table qwf.jobs set (autovacuum_enabled = false);
select is(pg_temp.finds('vacuum'),
  'problem: autovacuum is off for qwf.jobs -> alter table qwf.jobs '
  'reset (autovacuum_enabled);', 'it is switched off for a table');
alter table qwf.jobs reset (autovacuum_enabled);
select is(pg_temp.finds('vacuum'), 'fine: Autovacuum keeps up with dead rows.', 'that helps');

select * from finish();
rollback;

-- Style rule 6: people call public functions by argument name; internal ones are marked as such.
begin;
select plan(4);

select is_empty($$
  select p.oid::regprocedure, a.name
  from pg_proc p
  cross join lateral unnest(p.proargnames, p.proargmodes) a(name, mode)
  where p.pronamespace = 'qwf'::regnamespace
    and p.proname like '\_%'
    and coalesce(a.mode, 'i') in ('i', 'b', 'v')
    and a.name not like 'p\_%'
$$, 'arguments of an internal function start with p_');

select is_empty($$
  select p.oid::regprocedure, a.name
  from pg_proc p
  cross join lateral unnest(p.proargnames) a(name)
  where p.pronamespace = 'qwf'::regnamespace
    and p.proname not like '\_%'
    and (a.name like 'p\_%' or a.name = '')
$$, 'arguments of a public function have plain names');

select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = 'qwf'::regnamespace
    and p.proname ~ '[0-9]'
$$, 'no number is part of a name');

select is_empty($$
  select t.tgrelid::regclass, p.proname
  from pg_trigger t
  join pg_proc p on p.oid = t.tgfoid
  join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'qwf'::regnamespace
    and not t.tgisinternal
    and not starts_with(p.proname, 'tg_' || c.relname || '__')
$$, 'a trigger function is called tg_<table>__<event>');

select * from finish();
rollback;

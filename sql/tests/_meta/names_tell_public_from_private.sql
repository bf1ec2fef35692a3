-- 5 tests
-- Style rule 6: people call public functions by argument name; private ones are marked as such.
select is_empty($$
  select p.oid::regprocedure, a.name
  from pg_proc p
  cross join lateral unnest(p.proargnames, p.proargmodes) a(name, mode)
  where p.pronamespace = '_qwf'::regnamespace
    and coalesce(a.mode, 'i') in ('i', 'b', 'v')
    and a.name not like 'p\_%'
$$, 'arguments of an private function start with p_');

select is_empty($$
  select p.oid::regprocedure, a.name
  from pg_proc p
  cross join lateral unnest(p.proargnames) a(name)
  where p.pronamespace = 'qwf'::regnamespace
    and (a.name like 'p\_%' or a.name = '')
$$, 'arguments of a public function have plain names');

select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and p.proname ~ '[0-9]'
$$, 'no number is part of a name');

select is_empty($$
  select t.tgrelid::regclass, t.tgname
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'qwf'::regnamespace
    and not t.tgisinternal
    and not starts_with(t.tgname, 'tg_' || c.relname || '__')
$$, 'a trigger is called tg_<table>__<event>');

select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = '_qwf'::regnamespace and p.prorettype = 'trigger'::regtype
    and not exists (
      select from pg_trigger t
      where t.tgfoid = p.oid and starts_with(t.tgname, p.proname))
$$, 'and a trigger function after one of the triggers that call it');

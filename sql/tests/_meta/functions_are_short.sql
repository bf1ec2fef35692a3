-- Style rule 4: a function fits on one screen.
begin;
select plan(1);

select is_empty($$
  select p.oid::regprocedure, b.lines
  from pg_proc p
  cross join lateral (
    select cardinality(string_to_array(btrim(p.prosrc, E'\n'), E'\n')) as lines) b
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and b.lines >= 60
$$, 'every body has fewer than 60 lines');

select * from finish();
rollback;

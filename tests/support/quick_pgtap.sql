-- pgTAP makes a temporary table and two sequences for each plan, which costs more than a short file,
-- since each is compared with all plans that the session has kept. Here they are there, and stay
-- empty: each file is rolled back.

create sequence public.__tcache___id_seq;
create sequence public.__tresults___numb_seq;
create table public.__tcache__ (
  id integer not null default nextval('public.__tcache___id_seq'), label text not null,
  value integer not null, note text not null default '');
grant all on public.__tcache__, public.__tcache___id_seq, public.__tresults___numb_seq to public;
create or replace function public.plan(integer) returns text language plpgsql strict as $$
begin
  if exists (select from public.__tcache__ where label = 'plan') then
    raise exception 'You tried to plan twice!';
  end if;
  perform setval('public.__tresults___numb_seq', 1, false);
  insert into public.__tcache__ (label, value) values ('plan', $1), ('failed', 0);
  return '1..' || $1;
end; $$;
create or replace function public._get(text) returns integer language plpgsql strict as $$
begin
  return (select c.value from public.__tcache__ c where c.label = $1 limit 1);
end; $$;
create or replace function public._get_latest(text) returns integer[] language plpgsql strict as $$
begin
  return (select array[c.id, c.value] from public.__tcache__ c where c.label = $1
    order by c.id desc limit 1);
end; $$;
create or replace function public._set(text, integer, text) returns integer language plpgsql as $$
begin
  update public.__tcache__ c set value = $2, note = coalesce($3, c.note) where c.label = $1;
  if not found then return public._add($1, $2, $3); end if;
  return $2;
end; $$;

-- _support/clock.sql replaces qwf.now(), which is part of most plans: the session makes them again
-- when a file sets the clock, and again when it is rolled back. Here the function stays.

create or replace function qwf.now() returns timestamptz language sql volatile as $$
  select coalesce(
    nullif(pg_catalog.current_setting('qwf_test.now', true), '')::pg_catalog.timestamptz,
    pg_catalog.clock_timestamp())
$$;
create or replace function qwf_test.set_now(p_now timestamptz) returns void language plpgsql as $$
begin
  perform set_config('qwf_test.now', p_now::text, true);
end; $$;

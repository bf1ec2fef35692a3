-- Makes the clones of a template as new after a test: see kept.py.

create schema kept;

-- Rows of tables, as JSON; sequences; functions.
create table kept.rows (name regclass primary key, rows jsonb not null);
create table kept.sequences (name regclass primary key, value bigint not null, called boolean not null);
create table kept.functions (
  id oid primary key, name text not null, definition text not null, owner oid not null, access text
);
-- How many rows each catalog has, and the transaction after which none is new.
create table kept.catalogs (name text primary key, number bigint not null);
create table kept.since (catalogs xid not null, functions xid not null, bytes bigint not null);

create function kept.size() returns bigint language sql as $$
  select sum(pg_catalog.pg_relation_size(c.oid)) from pg_catalog.pg_class c
  where c.relkind = 'r' and c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace);
$$;

-- Catalogs but for functions and triggers: rows that belong to no temporary object, and the age of
-- the youngest.
create function kept.look()
returns table (name text, number bigint, age integer) language sql as $$
  select 'attributes', count(*), min(age(a.xmin)) from pg_attribute a where a.attrelid >= 16384
  union all
  select 'defaults', count(*), min(age(d.xmin)) from pg_attrdef d
  union all
  select 'tables', count(*), min(age(c.xmin)) from pg_class c where c.oid >= 16384
  union all
  select 'constraints', count(*), min(age(c.xmin)) from pg_constraint c
  union all
  select 'descriptions', count(*), min(age(d.xmin)) from pg_description d where d.objoid >= 16384
  union all
  select 'indexes', count(*), min(age(i.xmin)) from pg_index i where i.indexrelid >= 16384
  union all
  select 'heirs', count(*), min(age(i.xmin)) from pg_inherits i
  union all
  select 'policies', count(*), min(age(p.xmin)) from pg_policy p
  union all
  select 'rules', count(*), min(age(r.xmin)) from pg_rewrite r where r.oid >= 16384
  union all
  select 'sequences', count(*), min(age(s.xmin)) from pg_sequence s
  union all
  select 'types', count(*), min(age(t.xmin)) from pg_type t where t.oid >= 16384
  union all
  select 'casts', count(*), min(age(c.xmin)) from pg_cast c where c.oid >= 16384
  union all
  select 'default rights', count(*), min(age(d.xmin)) from pg_default_acl d
  union all
  select 'event triggers', count(*), min(age(e.xmin)) from pg_event_trigger e
  union all
  select 'extensions', count(*), min(age(e.xmin)) from pg_extension e
  union all
  select 'publications', count(*), min(age(p.xmin)) from pg_publication p
  union all
  select 'statistics', count(*), null from pg_statistic s join pg_class c on c.oid = s.starelid
  where s.starelid >= 16384 and c.relnamespace <> 'kept'::regnamespace
  union all
  select 'schemas', count(*), min(age(n.xmin)) from pg_namespace n
  where n.nspname !~ '^pg_(toast_)?temp_'
  union all
  select 'rights of the database', hashtext(concat(d.datacl, d.datallowconn, d.datconnlimit)), null
  from pg_database d where d.datname = current_database()
  union all
  select 'settings of the database', count(*), null from pg_db_role_setting s
  join pg_database d on d.oid = s.setdatabase and d.datname = current_database()
  union all
  select 'prepared transactions', count(*), null from pg_prepared_xacts x
  where x.database = current_database();
$$;

-- Drops the triggers and functions that a test has made, and makes those again that it replaced.
create function kept.mend() returns void language plpgsql as $$
declare
  v_since constant int := (select age(s.functions) from kept.since s);
  v_item record;
  v_any boolean := false;
begin
  for v_item in
    select t.tgname, t.tgrelid::regclass as tab from pg_trigger t
    where not t.tgisinternal and age(t.xmin) < v_since
  loop
    execute format('drop trigger %I on %s', v_item.tgname, v_item.tab);
  end loop;
  for v_item in
    select p.oid::regprocedure as name, f.definition,
      f.name <> p.oid::regprocedure::text as renamed, (p.proowner, p.proacl::text)
      is distinct from (f.owner, f.access) as rights
    from pg_proc p left join kept.functions f on f.id = p.oid
    where p.oid >= 16384 and age(p.xmin) < v_since
  loop
    if v_item.definition is null then
      execute format('drop function %s', v_item.name);
    elsif v_item.renamed then
      raise exception '% had another name', v_item.name;
    elsif v_item.rights then
      raise exception 'the rights of % have changed', v_item.name;
    else
      execute v_item.definition;
    end if;
    v_any := true;
  end loop;
  if (select count(*) from pg_proc p where p.oid >= 16384)
    <> (select c.number from kept.catalogs c where c.name = 'functions')
    or (select count(*) from pg_trigger t where not t.tgisinternal)
    <> (select c.number from kept.catalogs c where c.name = 'triggers') then
    raise exception 'a function or a trigger is gone';
  end if;
  if v_any then update kept.since set functions = pg_current_xact_id()::xid; end if;
end $$;

-- Makes the database as it was; raises an exception if it cannot.
create function kept.clean() returns void language plpgsql
set session_replication_role = 'replica' as $$
declare
  v_changed text;
begin
  perform kept.mend();
  select string_agg(l.name, ', ') into v_changed
  from kept.since s cross join kept.look() l left join kept.catalogs c using (name)
  where l.age < age(s.catalogs) or l.number is distinct from c.number;
  if v_changed is not null then raise exception 'changed: %', v_changed; end if;
  if kept.size() > (select s.bytes from kept.since s) then raise exception 'it has grown'; end if;
  perform kept.fill();
  perform setval(s.name, s.value, s.called) from kept.sequences s;
end $$;

do $$
declare
  v_table record;
  v_any boolean;
  v_body text := '';
begin
  for v_table in
    select c.oid::regclass as name, (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    ) as columns
    from pg_class c
    where c.relkind = 'r' and c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
      and c.oid <> '_qwf.hash_locks'::regclass  -- 20,480 rows that are only ever locked
  loop
    v_body := v_body || format('delete from %s; ', v_table.name);
    execute format('select exists (select from %s)', v_table.name) into v_any;
    continue when not v_any;
    execute format('insert into kept.rows select %L, jsonb_agg(to_jsonb(t)) from %s t',
      v_table.name, v_table.name);
    v_body := v_body || format('insert into %1$s (%2$s) overriding system value select %2$s'
      || ' from jsonb_populate_recordset(null::%1$s,'
      || ' (select k.rows from kept.rows k where k.name = %3$L::regclass)); ',
      v_table.name, v_table.columns, v_table.name);
  end loop;
  execute format('create function kept.fill() returns void language plpgsql as %L',
    'begin ' || v_body || 'end');
  for v_table in
    select c.oid::regclass as name from pg_class c
    where c.relkind = 'S' and c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
  loop
    execute format('insert into kept.sequences select %L, last_value, is_called from %s',
      v_table.name, v_table.name);
  end loop;
end $$;

insert into kept.functions
select p.oid, p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.proowner, p.proacl::text from pg_proc p
where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace, 'qwf_test'::regnamespace)
  and p.prokind in ('f', 'p');

insert into kept.catalogs
select l.name, l.number from kept.look() l
union all
select 'functions', count(*) from pg_proc p where p.oid >= 16384
union all
select 'triggers', count(*) from pg_trigger t where not t.tgisinternal;

insert into kept.since
select pg_current_xact_id()::xid, pg_current_xact_id()::xid, kept.size() + (1 << 20);

-- Deploy qwf:functions/health/_doctor_vacuum
-- Purpose: Finds tables with many dead rows, and switches that keep autovacuum away.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_vacuum() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant int := 20000;  -- dead rows; and half as many as live ones
begin
  return query
  select 'problem', s.name, s.name || ' is off: dead rows pile up, and every claim reads them',
    format('alter system set %s = on; select pg_reload_conf();', s.name)
  from pg_settings s
  where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
  order by s.name;
  return query
  select 'problem', 'qwf.' || c.relname, 'autovacuum is off for qwf.' || c.relname,
    format('alter table qwf.%s reset (autovacuum_enabled);', c.relname)
  from pg_class c
  where c.relnamespace = 'qwf'::regnamespace
    and c.reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off'];
  return query
  select 'problem', 'qwf.' || t.relname, format('qwf.%s has %s dead rows, %s live (%s, %s)',
      t.relname, t.n_dead_tup, t.n_live_tup, _qwf.spell_bytes(pg_relation_size(t.relid)),
      coalesce('vacuumed at ' || _qwf.spell_moment(t.last_autovacuum), 'never vacuumed')),
    format('see snapshots below; then: vacuum (verbose, analyze) qwf.%s;', t.relname)
  from pg_stat_user_tables t
  where t.schemaname = 'qwf' and t.n_dead_tup > greatest(v_most, t.n_live_tup / 2)
  order by t.n_dead_tup desc;
  return query
  select 'problem', null,
    format('transaction ids are running out: %s of 2147483647 are used', a.used),
    'soon: vacuum freeze;'
  from (
    select max(age(c.relfrozenxid)) as used from pg_class c
    where c.relnamespace = 'qwf'::regnamespace and c.relkind = 'r') a
  where a.used > 1500000000;
end $$;

commit;

-- Checks of the server: roles, settings, vacuum, snapshots.

-- Finds what is wrong with the server: version, durability, connections, notifications. Reads
-- only the catalogue, and calls nothing of the engine: qwf doctor sends this body also to a
-- database that has no schema.
create function _qwf.doctor_server() returns setof _qwf.finding
language sql stable
as $$
  with setting as (
    select s.name, s.setting, s.source, current_setting('max_connections')::int as most
    from pg_catalog.pg_settings s
    where s.name in (
      'fsync', 'full_page_writes', 'synchronous_commit', 'default_transaction_read_only')
  ), caller (login) as (
    select coalesce(nullif(current_setting('role'), 'none'), session_user)
  ), finding (n, level, subject, says, hint) as (
    select 1, 'problem', null,
      format('PostgreSQL %s is too old', current_setting('server_version')),
      'upgrade the server to 15 or newer'
    where current_setting('server_version_num')::int < 150000
    union all
    select 2, 'problem', s.name,
      s.name || ' is off: a crash of the machine may destroy the database',
      format('alter system set %s = on; select pg_reload_conf();', s.name)
    from setting s where s.name in ('fsync', 'full_page_writes') and s.setting = 'off'
    union all
    select 3, 'problem', s.name,
      'synchronous_commit is off for all sessions: a crash may lose finished work',
      'set it on; agents switch it off themselves where that loses nothing'
    from setting s where s.name = 'synchronous_commit' and s.setting = 'off'
    union all
    select 4, case when o.own then 'note' else 'problem' end, s.name,
      s.name || ' is on' || case when o.own then ' for this login: it can only read'
        else format(' (set in: %s): nothing can be enqueued, claimed or finished', s.source) end,
      case when o.own then format('if an agent or a producer uses it: alter role %I reset %s;',
          c.login, s.name)
        when s.source = 'database'
          then format('alter database %I reset %s;', current_database(), s.name)
        else format('alter system reset %s; select pg_reload_conf();', s.name) end
    from setting s
    cross join caller c
    cross join lateral (
      select s.source in ('user', 'database user', 'client', 'session') as own) o
    where s.name = 'default_transaction_read_only' and s.setting = 'on'
    union all
    select 5, 'problem', null, format('%s of %s connections are in use', u.used, s.most),
      'raise max_connections, or put PgBouncer before the producers: docs/operations.md'
    from setting s
    cross join (select sum(d.numbackends) as used from pg_catalog.pg_stat_database d) u
    where s.name = 'fsync' and u.used > 0.9 * s.most
    union all
    select 6, 'problem', null, format('the queue of notifications is %s%% full: once it is full, '
        'every commit that notifies fails, so nothing can be enqueued', round(100 * q.filled)),
      'a session that listens has had a transaction open for long: see snapshots below; the '
      'server''s log names its pid'
    from (select pg_catalog.pg_notification_queue_usage() as filled) q
    where q.filled > 0.05  -- of 8 GiB; a healthy server uses none of it
  )
  select f.level, f.subject, f.says, f.hint from finding f order by f.n, f.subject
$$;

-- Finds roles that are missing, and rights that somebody has or lacks against the plan.
create function _qwf.doctor_roles() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_again constant text := 'as the owner of this database: qwf migrate grants | psql ADDRESS';
  v_viewer oid := (select r.oid from pg_roles r where r.rolname = 'qwf_viewer');
begin
  return query
  select 'problem', 'role ' || n.name, format('role %s is missing', n.name),
    format('create role %s nologin;  then, %s', n.name, v_again)
  from unnest(array['qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer'])
    with ordinality n (name, place)
  where not exists (select from pg_roles r where r.rolname = n.name)
  order by n.place;
  return query
  select 'note', 'database', 'every login of this server may connect to the database: it can '
    'listen, fill the queue of notifications, and use up the memory for locks',
    format('grant connect on database %1$I to qwf_producer, qwf_worker, qwf_viewer;'
      ' revoke connect on database %1$I from public;', d.datname)
  from pg_database d
  where d.datname = current_database() and exists (
    select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    where a.grantee = 0 and a.privilege_type = 'CONNECT');
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'function ' || f.name, 'everybody may execute ' || f.name,
      format('revoke all on function %s from public;', f.name))::_qwf.finding
    from pg_proc p cross join lateral (select p.oid::regprocedure::text as name) f
    where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace) and exists (
      select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where a.grantee = 0)));
  if v_viewer is null then
    return;
  end if;
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'qwf.' || c.relname, 'qwf_viewer may not read qwf.' || c.relname,
      v_again)::_qwf.finding
    from pg_class c
    where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v')
      and not has_any_column_privilege(v_viewer, c.oid, 'select')));
  return query
  select 'problem', 'qwf.jobs',
    'qwf_viewer may read the tokens of running jobs, and could finish them', v_again
  where has_column_privilege(v_viewer, 'qwf.jobs', 'token', 'select');
end $$;

-- Finds tables with many dead rows, and switches that keep autovacuum away.
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

-- Finds old transactions and forgotten slots, which keep dead rows. doctor() runs with the
-- rights of the owner of the schema; so it names only those transactions that its caller may
-- see, too.
create function _qwf.doctor_snapshots() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
  v_sees boolean := pg_has_role(v_caller, 'pg_read_all_stats', 'usage');
  v_since timestamptz := qwf.now() - interval '5 min';
begin
  return query
  select 'note', null,
    'this login sees no transactions of other logins, only the dead rows that they keep',
    format('grant pg_read_all_stats to %s, if it may see the statements of everybody',
      case when v_sees then current_user else 'it' end)
  where not v_sees or not pg_has_role(current_user, 'pg_read_all_stats', 'usage');
  return query
  select 'problem', 'pid ' || a.pid,
    format('%s (%s, pid %s) has had a transaction open for %s, %s: dead rows stay', a.usename,
      coalesce(nullif(a.application_name, ''), 'no application_name'), a.pid,
      _qwf.spell_duration(qwf.now() - a.xact_start), a.state),
    format('let it commit, or: select pg_terminate_backend(%s);', a.pid)
  from pg_stat_activity a
  where a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
    and (a.backend_xmin is not null or a.backend_xid is not null) and a.xact_start < v_since
    and (v_sees or pg_has_role(v_caller, a.usesysid, 'usage'))
  order by a.xact_start;
  return query
  select 'problem', 'prepared transaction ' || p.gid,
    format('prepared transaction %s has been open for %s: dead rows stay', p.gid,
      _qwf.spell_duration(qwf.now() - p.prepared)),
    format('commit prepared or rollback prepared %L;', p.gid)
  from pg_prepared_xacts p
  where p.database = current_database() and p.prepared < v_since;
  return query
  select 'problem', 'slot ' || s.slot_name,
    format('replication slot %s has no reader: it keeps WAL%s', s.slot_name,
      ', ' || _qwf.spell_bytes(nullif(b.behind, 0)) || ' of WAL so far'),
    format('start its standby, or: select pg_drop_replication_slot(%L);', s.slot_name)
  from pg_replication_slots s
  cross join lateral (
    select pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn()
      else pg_current_wal_lsn() end, s.restart_lsn) as behind) b
  where not s.active;
end $$;

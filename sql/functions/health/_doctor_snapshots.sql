-- Deploy qwf:functions/health/_doctor_snapshots
-- Purpose: Finds old transactions and forgotten slots, which keep dead rows.
-- Guarantees: doctor() runs with the rights of the owner of the schema; so it names only those
--   transactions that its caller may see, too.
-- Called by: _doctor_findings.

begin;

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

commit;

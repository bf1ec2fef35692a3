-- Deploy qwf:functions/metrics/_postgres_metrics
-- Purpose: Returns what the server itself has to be watched for: old transactions, and how near it
--   is to the last transaction id.
-- Guarantees: Runs with the rights of its reader. The server shows the transactions of others only
--   to members of pg_read_all_stats; who is none gets a warning rather than a zero. A standby knows
--   nothing of the transactions of its primary.
-- Called by: the view metric_series.

begin;

create function _qwf.postgres_metrics() returns setof _qwf.metric
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_is_in_recovery() then
    null;
  elsif pg_has_role(current_user, 'pg_read_all_stats', 'usage') then
    return query
      select 'qwf_oldest_snapshot_seconds', '{}'::text[],
        coalesce(max(date_part('epoch', clock_timestamp() - a.xact_start)), 0), 'gauge',
        'Age of the oldest open transaction.'
      from pg_stat_activity a
      where a.backend_xmin is not null and a.backend_type = 'client backend'
        and a.pid <> pg_backend_pid();
  else
    raise warning using message = 'this login may not read qwf_oldest_snapshot_seconds',
      hint = 'let an administrator run: grant pg_read_all_stats to the login of the metrics';
    return query select 'qwf_unreadable', null::text[], 1::float8, null, null;
  end if;
  return query
    select 'qwf_oldest_xid_age', '{}'::text[],
      greatest(age(d.datfrozenxid), mxid_age(d.datminmxid))::float8, 'gauge',
      'Transaction ids since the oldest one that is not frozen; the server stops at 2,147,483,647.'
    from pg_database d
    where d.datname = current_database();
end $$;
call _qwf.allow('_qwf.postgres_metrics', 'qwf_viewer');

commit;

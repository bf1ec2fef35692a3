-- Deploy qwf:functions/health/_doctor_server
-- Purpose: Finds what is wrong with the server: version, durability, connections, notifications.
-- Guarantees: Reads only the catalogue, and calls nothing of the engine: qwf doctor sends this body
--   also to a database that has no schema.
-- Called by: _doctor_findings.

begin;

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

commit;

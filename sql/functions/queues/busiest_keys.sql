-- Deploy qwf:functions/queues/busiest_keys
-- Purpose: Returns the keys of a limit that counts by key, those with the most jobs first, and what
--   each holds back.
-- Guarantees: Reads every job of the limit that waits or runs: for people, not for programs that
--   ask often. With `name` LIMIT:KEY it returns this key alone.
-- Raises: QW001 for an unknown limit, QW005 for one that does not count by key.

begin;

create function qwf.busiest_keys(name text, max_rows int default 20)
returns table (
  key text, running int, queued int, waits_since timestamptz, opens_at timestamptz, held_back text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_limit qwf.limits;
begin
  select l.* into v_limit from qwf.limits l
  where l.name = split_part(busiest_keys.name, ':', 1) or l.name = busiest_keys.name
  order by l.name = busiest_keys.name desc limit 1;
  if v_limit.name is null then
    perform _qwf.check_limit('', busiest_keys.name);
  elsif not v_limit.keyed then
    raise exception using errcode = 'QW005', message = 'the limit does not count by key',
      detail = format('limit %L', v_limit.name), hint = 'see it in qwf.limit_overview';
  end if;
  perform _qwf.check_count('max_rows', busiest_keys.max_rows);
  return query
  select b.limit_by, b.running, b.queued, b.since, greatest(o.at, h.until), case
      when b.queued = 0 then null
      when h.until is not null then format('held until %s, by %s', h.until, h.by)
      when o.at is not null then format('its rate, until %s', o.at)
      when b.running >= v_limit.max_running
        then format('%s of %s running', b.running, v_limit.max_running) end
  from (
    select j.limit_by, count(*) filter (where j.status = 'running')::int as running,
      count(*) filter (where j.status = 'queued')::int as queued,
      min(j.queued_at) filter (where j.status = 'queued') as since
    from qwf.jobs j
    where j.limit_place is not null and j.status in ('queued', 'running') and case
      when v_limit.name = busiest_keys.name then split_part(j.limit_by, ':', 1) = v_limit.name
      else j.limit_by = busiest_keys.name end
    group by j.limit_by
    order by count(*) desc, min(j.queued_at), j.limit_by
    limit busiest_keys.max_rows
  ) b
  left join lateral (
    select k.starts[v_limit.starts] + v_limit.per as at from qwf.limit_keys k
    where k.name = b.limit_by and k.starts[v_limit.starts] > qwf.now() - v_limit.per) o on true
  left join lateral (
    select d.until, coalesce('job ' || d.job_id, quote_ident(d.login)) as by
    from qwf.limit_holds d
    where d.name in (v_limit.name, b.limit_by) and d.until > qwf.now()
    order by d.until desc limit 1) h on true
  order by b.running + b.queued desc, b.since, b.limit_by;
end $$;
comment on function qwf.busiest_keys is
  'Returns the keys of a limit that counts by key which have the most jobs: how many run and wait, '
  'since when, when the next may start, and what holds them back. QW001 for an unknown limit, '
  'QW005 for one that does not count by key.';
call _qwf.allow('qwf.busiest_keys', 'qwf_viewer');

commit;

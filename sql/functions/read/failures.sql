-- Failures grouped by cause, and the marks that people give a group. Locks: the mark of the
-- group.

create type qwf.failure_group as (
  task text, signature text, count int, first_at timestamptz, last_at timestamptz, hosts text[],
  job_ids bigint[], by_hour int[], example text, searched int, searched_to timestamptz,
  run_ids bigint[], state text, seen_at timestamptz, snoozed_until timestamptz, note text,
  marked_by text);
comment on type qwf.failure_group is
  'Failed jobs of one task whose errors differ only in numbers, ids and paths. first_at, last_at: '
  'when the first and the last of them failed. hosts: at most 20. job_ids: the newest three. '
  'by_hour: how many failed in each of the last 24 hours, the last hour last. example: the newest '
  'error, its most telling line. searched: failures read for all groups, back to searched_to; '
  'null: all. run_ids: runs whose nodes they are, the newest 20. state: new, seen, again (failed '
  'again since it was seen) or snoozed; seen_at, snoozed_until, note, marked_by: see '
  'mark_failures().';

-- Groups the newest failed jobs by task and by what their errors have in common. Reads at most
-- max_rows failed jobs, newest first, of those that failed since `since`; of these it groups
-- those of a task, a queue, a box or a workflow. A job that was retried or erased counts no
-- longer, and a failed attempt that will be tried again does not count yet. What fails because
-- of other jobs, which are counted themselves, does not count: a map some of whose elements
-- failed, a step that is a run, and other jobs of the engine. A snooze ends by its time, or by
-- the first definition that is registered after it. If first_at of a group is later than a
-- moment, and searched_to is null or earlier than that moment, the group is new since then.
create function qwf.failure_groups(
  since timestamptz default null, max_rows int default 5000, task text default null,
  queue text default null, host text default null, workflow text default null)
returns setof qwf.failure_group
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set max_parallel_workers_per_gather = 0
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  if coalesce(failure_groups.max_rows not between 1 and 100000, true)
    or not coalesce(_qwf.is_readable_time(failure_groups.since), true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('since %s, max_rows %s', failure_groups.since, failure_groups.max_rows),
      hint = 'give max_rows from 1 to 100000, and a time of the years 1 to 9999';
  end if;
  return query
  with ended as materialized (
    select j.id, j.run_id, j.task, j.queue, j.claimed_by, j.finished_at,
      _qwf.error_line(j.last_error) as error
    from qwf.jobs j
    where j.status = 'failed' and j.erased_parts is null
      and coalesce(not starts_with(j.queue, 'qwf.'), true)
      and not coalesce(j.last_error ~ '^[0-9]+ of [0-9]+ elements failed' and exists (
        select from qwf.jobs e where e.parent_id = j.id and e.status = 'failed'), false)
      and j.finished_at >= coalesce(failure_groups.since, '-infinity')
    order by j.finished_at desc
    limit failure_groups.max_rows
  ), line (error, signature) as materialized (  -- many jobs have the same
    select l.error, _qwf.error_signature(l.error) from (select distinct e.error from ended e) l
  ), failed as materialized (
    select e.*, l.signature, w.host,
      24 - floor(extract(epoch from v_now - e.finished_at) / 3600) as hour
    from ended e
    left join line l on l.error = e.error
    left join qwf.workers w on w.id = e.claimed_by
    left join qwf.runs r on r.id = e.run_id
    where coalesce(e.task = failure_groups.task, failure_groups.task is null)
      and coalesce(e.queue = failure_groups.queue, failure_groups.queue is null)
      and coalesce(w.host = failure_groups.host, failure_groups.host is null)
      and coalesce(r.workflow = failure_groups.workflow, failure_groups.workflow is null)
  ), hourly as (
    select f.task, f.signature, f.hour, count(*)::int as jobs from failed f
    where f.hour between 1 and 24 group by f.task, f.signature, f.hour
  ), whole as (
    select count(*)::int as searched,
      case when count(*) = failure_groups.max_rows then min(a.finished_at) end as searched_to
    from ended a
  ), grouped as (
    select
      f.task, f.signature, count(*)::int, min(f.finished_at), max(f.finished_at) as last_at,
      (array_agg(distinct f.host) filter (where f.host is not null))[:20],
      (array_agg(f.id order by f.finished_at desc, f.id desc))[:3],
      array(
        select coalesce(h.jobs, 0)
        from generate_series(1, 24) g (hour) left join hourly h on h.hour = g.hour
          and h.task = f.task and h.signature is not distinct from f.signature
        order by g.hour),
      (array_agg(f.error order by f.finished_at desc, f.id desc))[1], w.searched, w.searched_to,
      (array_agg(distinct f.run_id order by f.run_id desc)
        filter (where f.run_id is not null))[:20]
    from failed f cross join whole w
    group by f.task, f.signature, w.searched, w.searched_to
  )
  select g.*, s.state, m.seen_at, m.snoozed_until, m.note, coalesce(m.acting_for, m.login)
  from grouped g
  left join qwf.failure_marks m on m.task = g.task and m.signature = coalesce(g.signature, '')
  cross join lateral (
    select case
      when m.snoozed_until > v_now and not coalesce((
        select bool_or(d.at > m.release_after) from (
          select max(w.registered_at) as at from qwf.workflows w
          union all
          select max(p.registered_at) from qwf.pipelines p) d), false) then 'snoozed'
      when m.seen_at >= g.last_at then 'seen'
      when m.seen_at is not null then 'again'
      else 'new' end) s (state)
  order by s.state = 'snoozed', s.state = 'seen', g.last_at desc;
end $$;
comment on function qwf.failure_groups is
  'Groups the newest max_rows failed jobs, or those since a time, by task and by the first line of '
  'the error without its numbers, ids and paths; the group that failed last comes first, those '
  'that were seen or snoozed come last. task, '
  'queue, host and workflow: only theirs. It leaves out maps whose elements failed, and jobs of '
  'the engine. QW005 for an invalid bound or time.';
call _qwf.allow('qwf.failure_groups', 'qwf_viewer');

-- Marks a group of failures for all who look: seen, hidden for a while, a note. Changes what is
-- given and keeps the rest, also if two people mark a group at once. A mark that says nothing
-- any more is deleted.
-- Locks: the mark of the group.
-- Raises: QW005.
create function qwf.mark_failures(
  task text, signature text, seen boolean default null, snooze interval default null,
  until_release boolean default null, note text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_signature text := coalesce(mark_failures.signature, '');
  v_sleeps boolean := num_nonnulls(mark_failures.snooze, mark_failures.until_release) > 0;
  v_until timestamptz;
  v_note text := nullif(btrim(mark_failures.note), '');
begin
  if mark_failures.task is null or length(mark_failures.task) > 1000
    or length(v_signature) > 1000 or length(v_note) > 2000
    or extract(epoch from mark_failures.snooze) not between 0 and 366 * 86400
    or num_nonnulls(
      mark_failures.seen, mark_failures.snooze, mark_failures.until_release,
      mark_failures.note) = 0
  then
    raise exception using errcode = 'QW005', message = 'invalid mark of failures',
      detail = format('task %s, snooze %s, note of %s letters', left(mark_failures.task, 100),
        mark_failures.snooze, length(v_note)),
      hint = 'name the task and the signature of failure_groups(); give seen, snooze (up to 366 '
        'days), until_release or note (up to 2,000 letters)';
  end if;
  v_until := case when mark_failures.until_release then 'infinity'
    when extract(epoch from mark_failures.snooze) > 0 then v_now + mark_failures.snooze end;
  insert into qwf.failure_marks as m (
    task, signature, seen_at, snoozed_until, release_after, note, changed_at)
  values (
    mark_failures.task, v_signature, case when mark_failures.seen then v_now end, v_until,
    case when mark_failures.until_release then v_now end, v_note, v_now)
  on conflict (task, signature) do update set
    seen_at = case when mark_failures.seen is null then m.seen_at else excluded.seen_at end,
    snoozed_until = case when v_sleeps then excluded.snoozed_until else m.snoozed_until end,
    release_after = case when v_sleeps then excluded.release_after else m.release_after end,
    note = case when mark_failures.note is null then m.note else excluded.note end,
    login = session_user, acting_for = _qwf.acting_for(), changed_at = v_now;
  delete from qwf.failure_marks m
  where m.task = mark_failures.task and m.signature = v_signature
    and num_nonnulls(m.seen_at, m.snoozed_until, m.note) = 0;
end $$;
comment on function qwf.mark_failures is
  'Marks a group of failure_groups() for all who look. seen: true, or false to take it back. '
  'snooze: hide it for so long; 0 s shows it again. until_release: hide it until a new version of '
  'a workflow or pipeline is registered. note: a text for the others; an empty one deletes it. '
  'QW005 for an invalid mark.';
call _qwf.allow('qwf.mark_failures', 'qwf_producer');

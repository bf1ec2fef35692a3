-- Deploy qwf:functions/search/mark_failures
-- Purpose: Marks a group of failures for all who look: seen, hidden for a while, a note.
-- Guarantees: Changes what is given and keeps the rest, also if two people mark a group at once. A
--   mark that says nothing any more is deleted.
-- Locks: the mark of the group.
-- Raises: QW005.
-- Called by: operators, qwf failures.

begin;

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

commit;

-- Deploy qwf:functions/signals/signal
-- Purpose: Tells all runs of a project that something has happened outside: the steps that wait for
--   this name complete with the payload.
-- Guarantees: The signal, the answers and the fan-out are in the transaction of the caller. It is
--   kept for steps that ask later, which read the newest that fits: so it may come early, and
--   twice. A step whose schema it does not fit goes on waiting. It answers 100 steps
--   at once, and the tick the others. No step waits for a producer whose transaction is open.
-- Locks: as _serve_signal.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW005 for an invalid name, payload or time, and for the 1001st kept signal of a name.

begin;

create function qwf.signal(
  name text, payload jsonb default '{}', project text default '',
  keep_for interval default '1 day')
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_payload jsonb := coalesce(signal.payload, 'null');
  v_problem text := case
    when _qwf.is_readable_name(signal.name) is not true
      then 'name: must have 1 to 255 bytes that people can read'
    when signal.project is null then 'project: must not be null'
    when _qwf.is_duration(signal.keep_for, '366 days', p_least => '1 min') then null
    else format('keep_for: must be 1 minute to 366 days, not %s',
      coalesce(signal.keep_for::text, 'null')) end;
  v_signal qwf.signals;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid signal', detail = v_problem,
      hint = 'send it like this: select qwf.signal(''paid:4711'', ''{"status": "ok"}'')';
  end if;
  perform _qwf.check_text('project', signal.project);
  perform _qwf.check_json('payload', v_payload, s.max_value_bytes) from qwf.settings s;
  if 1000 = (
    select count(*) from (
      select from qwf.signals s
      where s.project = signal.project and s.name = signal.name and s.keep_until > v_now
      limit 1000) kept)
  then
    raise exception using errcode = 'QW005', message = 'too many signals of one name',
      detail = format('1000 signals %s of project %L are kept', signal.name, signal.project),
      hint = 'give them a shorter keep_for; for a stream of things enqueue a job for each';
  end if;
  insert into qwf.signals as s (
    project, name, payload, sent_at, keep_until, look_at)
  values (
    signal.project, signal.name, v_payload, v_now,
    v_now + extract(epoch from signal.keep_for) * interval '1 s', v_now)
  returning s.* into v_signal;
  return (_qwf.serve_signal(v_signal, 100)).answered;
end $$;
comment on function qwf.signal is
  'Completes the input steps of the project that wait for the signal of this name with the '
  'payload, if it fits their schema; returns how many, at most 100: the tick completes the others. '
  'It is kept for steps that ask within keep_for (1 minute to 366 days): they read the newest of '
  'its name that fits. QW005 for an invalid name, payload or time, and beyond 1000 kept ones.';
call _qwf.allow('qwf.signal', 'qwf_producer');

commit;

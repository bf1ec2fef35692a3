-- The checks of doctor(), and the words of their findings.

create type qwf.finding as ("check" text, level text, subject text, says text, hint text);
comment on type qwf.finding is
  'A finding of a check of doctor(). level: problem, unchecked (the check failed), note, or fine '
  '(it found nothing); subject: what it is about, as in job 7; hint: what to do.';

create type _qwf.finding as (level text, subject text, says text, hint text);
comment on type _qwf.finding is
  'A finding of a check of doctor(): its level, its subject, the sentence, the remedy.';

-- Makes the checks of the engine and its server one after the other, and says what to do.
-- Changes nothing. A check that fails becomes one row with level unchecked, and the others are
-- made. So does one that statement_timeout ends; the rest then has no limit.
create function qwf.doctor(checks text[] default null) returns setof qwf.finding
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_names text[] := array(select c.name from _qwf.doctor_checks() c);
  v_unknown text;
  v_check text;
  v_about text;
  v_found _qwf.finding[];
begin
  select coalesce(w.name, 'null') into v_unknown
  from unnest(doctor.checks) w (name)
  where coalesce(w.name <> all (v_names), true)
  limit 1;
  if found then
    raise exception using errcode = 'QW005', message = 'unknown check',
      detail = left(v_unknown, 200), hint = coalesce(_qwf.did_you_mean(v_unknown, v_names),
        'the checks are ' || array_to_string(v_names, ', '));
  end if;
  for v_check, v_about in
    select c.name, c.about from _qwf.doctor_checks() c
    where doctor.checks is null or c.name = any (doctor.checks)
  loop
    begin
      v_found := array(select f from _qwf.doctor_findings(v_check) f);
      if v_found = '{}' then
        v_found := array[row('fine', null, v_about, null)::_qwf.finding];
      end if;
    exception when query_canceled or others then
      if sqlstate = '57014' and (clock_timestamp() - statement_timestamp()
          < nullif(current_setting('statement_timeout'), '0')::interval) is distinct from false then
        raise;  -- who cancels it by hand wants to end it
      end if;
      v_found := array[row('unchecked', null, 'this could not be checked: ' || sqlerrm,
        case sqlstate when '42501' then 'run it as a login with qwf_viewer or qwf_admin'
          else 'try again' end)::_qwf.finding];
    end;
    return query select v_check, f.* from unnest(v_found) f;
  end loop;
end $$;
comment on function qwf.doctor is
  'Makes all checks of the engine and its server, or the named ones, and says what to do: select * '
  'from qwf.doctor(). It changes nothing. QW005: no such check.';
call _qwf.allow('qwf.doctor', 'qwf_viewer');

-- Lists the checks of doctor() in their order, each with what is so if it finds nothing.
create function _qwf.doctor_checks() returns table (name text, about text)
language sql immutable
as $$
  select *
  from (
    values
      ('server', 'Version, durability, free connections, room for notifications.'),
      ('roles', 'The four roles exist and have their grants.'),
      ('settings', 'The intervals in qwf.settings fit each other.'),
      ('vacuum', 'Autovacuum keeps up with dead rows.'),
      ('snapshots', 'No old transaction or slot keeps dead rows.'),
      ('tick', 'tick() is called, due work is done, and events have numbers.'),
      ('runs', 'Events are applied.'),
      ('invariants', 'check_invariants() finds nothing.'),
      ('queues', 'Queued work has workers that can take it.'),
      ('workers', 'Workers are alive, switched on, and of the schema''s version.'),
      ('models', 'Model servers work.'),
      ('schedules', 'Schedules fire, and questions are answered.'),
      ('late', 'Runs, workflows and schedules are in time.'),
      ('alerts', 'Rules can be applied, and their messages are delivered.'),
      ('options', 'What is enqueued has the options that tasks declare.'),
      ('folders', 'No job found the files of another in its folder.')
  ) c (name, about)
$$;

-- Makes one check of doctor().
create function _qwf.doctor_findings(p_check text) returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_check
    when 'server' then return query select * from _qwf.doctor_server();
    when 'roles' then return query select * from _qwf.doctor_roles();
    when 'settings' then
      return query
      select f.level, f.setting, f.says, format('qwf settings %s TIME', f.setting)
      from qwf.settings s
      cross join lateral (values
        ('problem', 'worker_stale', s.worker_stale < s.heartbeat * 2, format('worker_stale %s is '
          'shorter than two heartbeats: live workers are taken for dead',
          _qwf.spell_duration(s.worker_stale))),
        ('problem', 'tick', s.tick > s.lease,
          'tick is longer than the lease: lost jobs wait for the next tick'),
        ('note', 'poll', s.poll > interval '1 min',
          format('poll is %s: a lost wake-up delays work that long', _qwf.spell_duration(s.poll)))
      ) f (level, setting, found, says)
      where f.found;
    when 'vacuum' then return query select * from _qwf.doctor_vacuum();
    when 'snapshots' then return query select * from _qwf.doctor_snapshots();
    when 'tick' then return query select * from _qwf.doctor_tick();
    when 'runs' then return query select * from _qwf.doctor_runs();
    when 'invariants' then
      return query
      select * from _qwf.first_few(array(
        select row('problem', i.subject,
          format('%s: %s, %s', i.invariant, i.subject, _qwf.one_line(i.detail)),
          'this is a bug in qwf, or someone wrote to its tables: report it')::_qwf.finding
        from qwf.check_invariants() i));
    when 'queues' then
      return query select * from _qwf.doctor_queues();
      return query
      select 'problem', 'queue ' || h.queue, _qwf.spell_hold(h, _qwf.spell_moment(h.until)),
        format('mend it, then: qwf queue resume %s --task %s', h.queue, h.task)
      from qwf.held_tasks h
      where h.until is not null
      order by h.queue, h.task;
    when 'workers' then
      return query select * from _qwf.doctor_workers();
      return query
      select 'problem', 'box ' || u.host,
        format('%s has %s that it cannot report: %s', u.host,
          case when u.reports = 1 then '1 ended body' else u.reports || ' ended bodies' end, u.why),
        'mend or drop what refuses them, often a trigger of another program on qwf.jobs: then '
          'they are reported within 15 s. Do not stop the agent before that: the bodies would run '
          'again'
      from _qwf.unreported() u
      order by u.host;
    when 'models' then return query select * from _qwf.doctor_models();
    when 'schedules' then return query select * from _qwf.doctor_schedules();
    when 'late' then return query select * from _qwf.doctor_late();
    when 'alerts' then return query select * from _qwf.doctor_alerts();
    when 'options' then
      return query
      select * from _qwf.first_few(array(
        select row('note', m.kind || ' ' || min(m.name), m.kind || ' ' || min(m.name)
          || case when count(*) > 1 then format(' and %s more', count(*) - 1) else '' end
          || ': ' || m.says, m.hint)::_qwf.finding
        from qwf.find_missing_options() m
        group by m.kind, m.task, m.option, m.declared, m.says, m.hint
        order by m.task, m.option, m.kind));
    when 'folders' then
      return query
      select 'note', null, format('%s folders that jobs got in the last day held the files of '
          'others, and were moved aside, such as to %s', m.moved, m.example),
        'after a restore from a backup this is normal, if qwf migrate restored was run; if it was '
        'not, stop the agents, and run: qwf migrate restored. It is also normal for a job that was '
        'retried with other inputs, and for a map that ran again. See qwf.events, kind folder_moved'
      from (  -- of the newest 10,000 events: no index is by kind
        select count(*) as moved, max(e.detail ->> 'moved_to') as example
        from (select * from _qwf.event_log n order by n.id desc limit 10000) e
        where e.kind = 'folder_moved' and e.at > qwf.now() - interval '1 day') m
      where m.moved > 0;
  end case;
end $$;

-- Returns a length of time as a person writes it: 1.5 s, 10 min 00 s, 3 d 04 h.
create function _qwf.spell_duration(p_length interval) returns text
language sql immutable parallel safe
as $$
  select case
    when l.seconds < 9.95 then round(l.seconds, 1) || ' s'
    when l.seconds < 59.5 then round(l.seconds) || ' s'
    when l.whole < 3600 then format('%s min %s s', l.whole / 60, to_char(l.whole % 60, 'FM00'))
    when l.whole < 48 * 3600
      then format('%s h %s min', l.whole / 3600, to_char(l.whole / 60 % 60, 'FM00'))
    else format('%s d %s h', l.whole / 86400, to_char(l.whole / 3600 % 24, 'FM00'))
  end
  from (
    select e.seconds, round(e.seconds)::bigint as whole
    from (select extract(epoch from p_length) as seconds) e) l
$$;

-- Returns the first five findings of a kind, and how many more there are.
create function _qwf.first_few(p_found _qwf.finding[]) returns setof _qwf.finding
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select f.* from unnest(p_found[:5]) f;
  if cardinality(p_found) > 5 then
    return query select (p_found[1]).level, null, format('and %s more of that kind',
      cardinality(p_found) - 5), null;
  end if;
end $$;

-- Returns a text with all its words on one line.
create function _qwf.one_line(p_text text) returns text
language sql immutable parallel safe
as $$
  select btrim(regexp_replace(p_text, E'\\s+', ' ', 'g'))
$$;

-- Returns a time in the time zone of the session, without the date if it is today.
create function _qwf.spell_moment(p_at timestamptz) returns text
language sql volatile
as $$
  select to_char(p_at,
    case when p_at::date = qwf.now()::date then 'HH24:MI:SS' else 'YYYY-MM-DD HH24:MI' end)
$$;

-- Returns a number of things in words: 1 job, 2 jobs.
create function _qwf.counted(p_count bigint, p_thing text) returns text
language sql immutable parallel safe
as $$
  select p_count || ' ' || p_thing || case when p_count = 1 then '' else 's' end
$$;

-- Returns a number of bytes as a person writes it: 512 B, 1.5 GiB.
create function _qwf.spell_bytes(p_bytes numeric) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units constant text[] := '{B,KiB,MiB,GiB,TiB,PiB}';
  v_number numeric := p_bytes;
  v_step int := 1;
begin
  while v_number >= 1000 and v_step < cardinality(v_units) loop
    v_number := v_number / 1024;
    v_step := v_step + 1;
  end loop;
  return round(v_number, case when v_step > 1 and v_number < 99.95 then 1 else 0 end)
    || ' ' || v_units[v_step];
end $$;

-- Deploy qwf:functions/health/_doctor_findings
-- Purpose: Makes one check of doctor().
-- Called by: doctor.

begin;

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

commit;

-- Deploy qwf:functions/health/_doctor_tasks
-- Purpose: Finds tasks that are held back because they crash.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_tasks() returns setof _qwf.finding
language sql stable
as $$
  select 'problem', 'queue ' || h.queue, _qwf.spell_hold(h, _qwf.spell_moment(h.until)),
    format('mend it, then: qwf queue resume %s --task %s', h.queue, h.task)
  from qwf.held_tasks h
  where h.until is not null
  order by h.queue, h.task
$$;

commit;

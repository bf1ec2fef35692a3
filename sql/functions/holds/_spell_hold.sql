-- Deploy qwf:functions/holds/_spell_hold
-- Purpose: Returns in words that a task is held back; null if it is not.
-- Called by: _doctor_findings, _notice_unserved, _why_held.

begin;

create function _qwf.spell_hold(p_hold qwf.held_tasks, p_until text) returns text
language sql stable
as $$
  select format('%s crashed on %s: %s', p_hold.task, array_to_string(p_hold.hosts, ', '), case
    when p_hold.trial_job is not null then format('job %s of it runs alone first', p_hold.trial_job)
    when p_hold.until > qwf.now() then 'held until ' || p_until
    else 'its next job runs alone first' end)
  where p_hold.until is not null
$$;

commit;

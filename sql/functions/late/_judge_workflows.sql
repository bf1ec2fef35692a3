-- Deploy qwf:functions/late/_judge_workflows
-- Purpose: Tells of workflows of which no run has completed for longer than expect.every.
-- Guarantees: Once until one completes. A workflow that never completed counts from its first
--   registration. Its end is no event of its own: run_ended tells of the success.
-- Locks: as _tell_states.
-- Called by: _judge.

begin;

create function _qwf.judge_workflows(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return _qwf.tell_states('overdue', 'overdue', null, array(
    select (o.name, jsonb_build_object('workflow', o.name), jsonb_strip_nulls(jsonb_build_object(
      'last_success', o.last_success, 'every', floor(date_part('epoch', o.every)))))::_qwf.wrong_now
    from _qwf.overdue_workflows(p_now) o), p_now);
end $$;

commit;

-- Deploy qwf:functions/alerts/_end_questions
-- Purpose: Closes the alerts about questions of runs that have ended since the event p_from.
-- Called by: _try_rules.

begin;

create function _qwf.end_questions(p_rules text[], p_from bigint, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
begin
  if exists (
    select from qwf.alerts a where a.name = any (p_rules) and 'question_asked' = any (a.kinds))
  then
    update qwf.open_alerts o set close_at = p_now
    from (
      select e.run_id, max(e.seq) as seq from _qwf.event_log e
      where e.seq > p_from and e.kind = 'run_ended' group by e.run_id) e
    where o.asked_run = e.run_id and e.seq > o.last_seq
      and o.closed_at is null and o.rule = any (p_rules);
  end if;
end $$;

commit;

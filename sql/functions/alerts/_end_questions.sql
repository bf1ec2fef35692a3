-- Deploy qwf:functions/alerts/_end_questions
-- Purpose: Closes the alerts about questions of runs that have ended.
-- Called by: _try_rule.

begin;

create function _qwf.end_questions(
  p_rule qwf.alerts, p_groups _qwf.event_group[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
begin
  if 'question_asked' = any (p_rule.kinds) then
    update qwf.open_alerts o set close_at = p_now
    where o.rule = p_rule.name and o.kind = 'question_asked' and o.closed_at is null
      and o.run_id = any (array(
        select e.run_id from unnest(p_groups) g
        cross join lateral unnest(g.seqs) s (seq)
        join _qwf.event_log e on e.seq = s.seq
        where g.kind = 'run_ended' and e.seq > o.last_seq));
  end if;
end $$;

commit;

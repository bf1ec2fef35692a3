-- Deploy qwf:functions/late/_judge_queues
-- Purpose: Tells of queues whose first job has waited for longer than expect.starts_within, and of
--   those that move again.
-- Guarantees: Reads the first jobs of such queues only. A queue that is paused waits on purpose,
--   and one of the engine is not judged.
-- Locks: as _tell_states.
-- Called by: _judge.

begin;

create function _qwf.judge_queues(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return _qwf.tell_states('queue_waits', 'queue_waits', 'queue_moves', array(
    select (q.name, jsonb_build_object('queue', q.name), jsonb_build_object(
      'head_wait', floor(date_part('epoch', p_now - c.head_since)),
      'expected', floor(date_part('epoch', q.within))))::_qwf.wrong_now
    from (
      select n.name, _qwf.as_interval(n.expect -> 'starts_within') as within
      from qwf.queues n
      where n.expect ? 'starts_within' and not n.paused and n.name not like 'qwf.%') q
    cross join lateral _qwf.count_queued(q.name, 1) c
    where c.queued > 0 and c.head_since < p_now - q.within), p_now);
end $$;

commit;

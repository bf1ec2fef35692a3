-- Deploy qwf:functions/queues/_count_queued
-- Purpose: Counts the queued jobs of a queue, estimates them if they are p_most or more, and finds
--   the first in claim order. Those of a task that is held back do not count.
-- Guarantees: Reads at most p_most jobs besides the heads and those of _estimate_queued, however
--   many are queued and whatever the statistics say, with the settings of count_jobs. Counts from
--   the end of an index: the entries that claims leave behind while somebody holds a snapshot lie
--   at its start. A queue with few jobs reads them once, because there may be thousands of queues.
-- Called by: count_jobs, _judge, _record_queues.

begin;

create function _qwf.count_queued(p_queue text, p_most int) returns _qwf.queued_count
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_few constant int := 20;
  v_heads _qwf.queue_head[] := array(
    select (null, j.run_next, j.priority, j.position, j.id, j.queued_at)::_qwf.queue_head
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next, j.priority desc, j.position desc
    limit v_few + 1);
  v_count _qwf.queued_count := (cardinality(v_heads), false, null, null, null);
begin
  if v_count.queued > least(v_few, p_most - 1) or exists (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null)
    or exists (select from _qwf.next_band(p_queue, null))
  then
    v_heads := array(select h from _qwf.queue_heads(p_queue) h);
    v_count.queued := (
      select count(*) from (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        order by j.run_next, j.priority desc, j.position desc
        limit p_most) free);
    v_count.queued := v_count.queued + (
      select count(*) from (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        order by j.limit_by desc, coalesce(j.limit_by, j.required_model) desc, j.run_next,
          j.priority desc, j.position desc
        limit p_most - v_count.queued) limited);
    v_count.queued := v_count.queued + (
      select count(*) from (
        select from qwf.jobs j
        where _qwf.line_of(j) = p_queue and j.limit_place is not null
          and j.status in ('queued', 'running')
        order by _qwf.line_of(j) desc, _qwf.band_of(j) desc, j.limit_place desc, j.position desc
        limit p_most - v_count.queued) keyed);
    v_count.estimated := v_count.queued = p_most;
    if v_count.estimated then
      v_count.queued := greatest(p_most,
        coalesce(_qwf.estimate_queued(p_queue, v_heads), 0) + _qwf.estimate_line(p_queue, p_most));
    end if;
  elsif v_count.queued > 1 then  -- the first of each priority, as queue_heads finds them
    v_heads := array(
      select distinct on (h.run_next, h.priority) h
      from unnest(v_heads) h order by h.run_next desc, h.priority, h.position);
  end if;
  if v_count.queued > 0 then
    select h.id, h.queued_at, min(h.queued_at) over ()
    into v_count.head, v_count.head_since, v_count.oldest_since
    from unnest(v_heads) h
    order by h.run_next desc, h.priority, h.position limit 1;
    v_count := _qwf.without_held(p_queue, v_count);
  end if;
  return v_count;
end $$;

commit;

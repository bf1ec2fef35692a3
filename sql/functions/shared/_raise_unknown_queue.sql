-- Deploy qwf:functions/shared/_raise_unknown_queue
-- Purpose: Raises QW006 with the queues that exist and the one that was probably meant.
-- Raises: QW006, always.
-- Called by: whatever takes a queue name.

begin;

create function _qwf.raise_unknown_queue(p_queue text, p_where text default '') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW006', message = 'unknown queue',
    detail = format('%squeue %L; queues: %s', p_where, left(p_queue, 200),
      (select string_agg(q.name, ', ' order by q.name) from qwf.queues q
        where not starts_with(q.name, 'qwf.'))),
    hint = coalesce(
      _qwf.did_you_mean(p_queue, array(select q.name from qwf.queues q)) || ' If not, ',
      'correct the name, or ')
      || 'ask an administrator to create the queue: select qwf.create_queue(''name'')';
end $$;

commit;

-- Deploy qwf:functions/shared/_raise_unknown_queue
-- Purpose: Raises QW006 with the names that would have worked.
-- Raises: QW006, always.
-- Called by: whatever takes a queue name.

begin;

create function _qwf.raise_unknown_queue(p_queue text, p_where text default '') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW006', message = 'unknown queue',
    detail = format('%squeue %L; there are: %s', p_where, p_queue,
      (select string_agg(q.name, ', ' order by q.name) from qwf.queues q)),
    hint = 'correct the name, or let an administrator create it: select qwf.create_queue(''name'')';
end $$;

commit;

-- Deploy qwf:functions/queues/first_in_line
-- Purpose: Returns the waiting jobs that stand first in the line of a queue.
-- Guarantees: Three lists one after the other, each with at most max_rows jobs in the order of
--   claim: jobs without a limit, jobs of ordinary limits by limit, and jobs of limits that count by
--   key. Each list is read from its index and reads no more jobs than it returns.
-- Raises: QW005, QW006.

begin;

create function qwf.first_in_line(queue text, max_rows int default 20)
returns table (
  job_id bigint, task text, run_id bigint, node_id text, priority int, run_next boolean,
  limit_by text, queued_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  perform _qwf.check_count('max_rows', first_in_line.max_rows);
  if not exists (select from qwf.queues q where q.name = first_in_line.queue) then
    perform _qwf.raise_unknown_queue(first_in_line.queue);
  end if;
  return query
  select w.id, w.task, w.run_id, w.node_id, w.priority, w.run_next, w.limit_by, w.queued_at
  from (
    (select 1 as list, j.* from qwf.jobs j
    where j.queue = first_in_line.queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit first_in_line.max_rows)
    union all
    (select 2, j.* from qwf.jobs j
    where j.queue = first_in_line.queue and j.status = 'queued' and j.limit_by is not null
      and j.limit_place is null
    order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc, j.priority,
      j.position limit first_in_line.max_rows)
    union all
    (select 3, j.* from qwf.jobs j
    where _qwf.line_of(j) = first_in_line.queue and j.limit_place is not null
      and j.status in ('queued', 'running')
    order by _qwf.band_of(j), j.limit_place, j.position limit first_in_line.max_rows)) w
  order by w.list, case when w.list = 2 then w.limit_by end, w.run_next desc, w.priority,
    case when w.list = 3 then w.limit_place end, w.position;
end $$;
comment on function qwf.first_in_line is
  'Returns the waiting jobs that stand first in the line of a queue, in the order of claim: at '
  'most max_rows without a limit, as many of ordinary limits, and as many of limits that count by '
  'key. QW006 for an unknown queue.';
call _qwf.allow('qwf.first_in_line', 'qwf_viewer');

commit;

-- Deploy qwf:functions/queues/drop_limit
-- Purpose: Removes a limit.
-- Guarantees: Refused while unfinished jobs name the limit: they would wait forever; and while a
--   current pipeline or workflow or a schedule that is on does: what they start would be refused.
--   The limit of a queue (queue:NAME) is removed at once: its jobs are no longer limited. Waits for
--   open transactions that have put jobs into the limit, and for no claim: a held or locked slot or
--   start stays, and has no effect until a limit of that name exists again. Ends its holds.
-- Locks: the row of the queue, as create_queue does; the limit; its free slots and starts that
--   nobody has locked.
-- Notifies: sleepers of the queue that is no longer limited.

begin;

create function qwf.drop_limit(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_queue text := substring(drop_limit.name from '^queue:(.*)$');
  v_jobs bigint;
  v_users text;
  v_keyed boolean;
begin
  perform from qwf.queues q where q.name = v_queue for no key update;
  select l.keyed into v_keyed from qwf.limits l where l.name = drop_limit.name for update;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('limit %L', left(drop_limit.name, 200)),
      hint = coalesce(
        _qwf.did_you_mean(drop_limit.name, array(select l.name from qwf.limits l)),
        'list them: select * from qwf.limits');
  end if;
  select count(*) into v_jobs
  from qwf.jobs j
  where (j.limit_by = drop_limit.name or j.limit_place is not null
      and split_part(j.limit_by, ':', 1) = drop_limit.name) and j.finished_at is null;
  if v_jobs > 0 then
    raise exception using errcode = 'QW002', message = 'limit is in use',
      detail = format('%s unfinished jobs name limit %L', v_jobs, drop_limit.name),
      hint = 'wait for these jobs or cancel them first; to let more run at once: '
        'select qwf.create_limit(name, more)';
  end if;
  v_users := _qwf.limit_users(drop_limit.name, v_keyed);
  if v_users is not null then
    raise exception using errcode = 'QW002', message = 'limit is in use',
      detail = format('limit %L is named by %s', drop_limit.name, left(v_users, 1000)),
      hint = 'first register or create these without limit_by';
  end if;
  delete from qwf.limit_slots s
  using (  -- held slots of a queue limit are freed when their jobs end
    select f.slot from qwf.limit_slots f
    where f.limit_name = drop_limit.name and f.job_id is null
    for update skip locked
  ) free
  where s.limit_name = drop_limit.name and s.slot = free.slot;
  delete from qwf.limit_holds h where h.name = drop_limit.name
    or v_keyed and split_part(h.name, ':', 1) = drop_limit.name;
  delete from qwf.limits l where l.name = drop_limit.name;
  perform _qwf.store_starts(drop_limit.name, null);
  if v_queue is not null then
    update qwf.queues q set max_running = null where q.name = v_queue;
    perform _qwf.wake(v_queue, 16);
  end if;
end $$;
comment on function qwf.drop_limit is
  'Removes a limit; queue:NAME is the limit of a queue. QW001 no such limit, QW002 unfinished '
  'jobs, current definitions or schedules that are on name it.';
call _qwf.allow('qwf.drop_limit', 'qwf_admin');

commit;

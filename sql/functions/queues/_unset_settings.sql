-- Deploy qwf:functions/queues/_unset_settings
-- Purpose: Gives settings of a queue their defaults again: those of qwf.settings, or of the table.
-- Guarantees: Removes the limit of the queue for max_running, as drop_limit does.
-- Locks: the row of the queue, then as drop_limit.
-- Raises: QW005 for an unknown setting, and for one that is also given a value.
-- Called by: create_queue.

begin;

create function _qwf.unset_settings(p_queue text, p_unset text[], p_given jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] :=
    '{lease,timeout,retention,max_running,placement,keep_completed,on_failure,expect}';
  v_bad text := (
    select u from unnest(p_unset) u
    where (u = any (v_known)) is not true or p_given ? u limit 1);
begin
  if v_bad is not null or array_position(p_unset, null) > 0 then
    raise exception using errcode = 'QW005', message = 'setting cannot be unset',
      detail = format('unset: %L', left(v_bad, 200)),
      hint = case when p_given ? v_bad then 'give it a value or unset it, not both'
        else coalesce(_qwf.did_you_mean(v_bad, v_known) || ' ', '')
          || 'a queue has ' || array_to_string(v_known, ', ') end;
  end if;
  update qwf.queues q set
    lease = case when 'lease' = any (p_unset) then null else q.lease end,
    timeout = case when 'timeout' = any (p_unset) then null else q.timeout end,
    retention = case when 'retention' = any (p_unset) then null else q.retention end,
    placement = case when 'placement' = any (p_unset) then 'spread' else q.placement end,
    keep_completed = 'keep_completed' = any (p_unset) or q.keep_completed,
    on_failure = case when 'on_failure' = any (p_unset) then 'fail' else q.on_failure end,
    expect = case when 'expect' = any (p_unset) then null else q.expect end
  where q.name = p_queue;
  if 'max_running' = any (p_unset)
    and exists (select from qwf.limits l where l.name = 'queue:' || p_queue) then
    perform qwf.drop_limit('queue:' || p_queue);
  end if;
end $$;

commit;

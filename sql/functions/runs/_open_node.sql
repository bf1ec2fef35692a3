-- Deploy qwf:functions/runs/_open_node
-- Purpose: Queues a guarded node, skips it, asks its question, completes it with a signal that was
--   sent before, or fails it, by what its references gave.
-- Guarantees: A node whose references cannot be resolved fails; with on_failure ask a person
--   decides.
-- Locks: the job, of a run the caller has locked.
-- Notifies: a sleeper of the queue, if the node is queued.
-- Called by: _open_guarded.

begin;

create function _qwf.open_node(
  p_job bigint, p_skip _qwf.resolution, p_asked _qwf.resolution, p_asks boolean)
returns _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_error text := _qwf.resolution_error(coalesce(p_skip.error, p_asked.error));
  v_question jsonb := case
    when v_error is null then p_asked.value else _qwf.failure_question(v_error, false) end;
  v_opened record;
begin
  update qwf.jobs j set
    status = k.status,
    input_spec = case when k.status = 'awaiting_input' then v_question else j.input_spec end,
    expires_at = case when k.status = 'awaiting_input'
      then v_now + _qwf.as_interval(v_question -> 'expires') end,
    last_error = v_error,
    queued_at = case when k.status in ('queued', 'awaiting_input') then v_now end,
    position = case when k.status = 'queued' then _qwf.next_position() end,
    finished_at = case when k.status in ('failed', 'skipped') then v_now end
  from (
    select f.id, case
        when v_error is not null and f.on_failure = 'ask' then 'awaiting_input'
        when v_error is not null then 'failed'
        when _qwf.is_true(p_skip.value) then 'skipped'
        when p_asks then 'awaiting_input'
        else 'queued'
      end::qwf.job_status as status
    from qwf.jobs f where f.id = p_job) k
  where j.id = k.id
  returning j.id, j.run_id, j.status, j.queue into v_opened;
  if v_opened.status = 'queued' then
    perform _qwf.wake(v_opened.queue, 1);
  elsif v_opened.status <> 'skipped' then
    perform _qwf.add_waits(array[p_job]);
    if _qwf.take_kept_signal(p_job) then
      v_opened.status := 'completed';
    else
      perform _qwf.announce_trouble(array[p_job]);
    end if;
  end if;
  return (v_opened.id, v_opened.run_id, v_opened.status, null)::_qwf.opened;
end $$;

commit;

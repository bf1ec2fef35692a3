-- Deploy qwf:functions/_lock_stoppable
-- requires: schema/jobs
-- Purpose: Locks what does not run of runs that are over, and nothing that runs.
-- Guarantees: Never waits. A row that a claim makes running between the look and the lock would
--   come out unmatched but locked, and its worker would wait for the caller's open transaction:
--   then the locks are dropped with the subtransaction, and it looks again. What it does not get at
--   all in five rounds, the stop event does.
-- Locks: jobs of the runs that do not run (by id), where they are free.
-- Called by: _stop_nodes.

begin;

create function qwf._lock_stoppable(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_seen bigint[];
  v_locked bigint[];
begin
  for v_round in 1..5 loop
    begin
      v_seen := array(
        select j.id from qwf.jobs j
        where j.run_id = any (p_runs)
          and j.status in ('blocked', 'scheduled', 'queued', 'awaiting_input'));
      v_locked := array(
        select j.id from qwf.jobs j
        where j.id = any (v_seen)
          and j.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
        order by j.id
        for no key update skip locked);
      if cardinality(v_locked) = cardinality(v_seen) or not exists (
        select from qwf.jobs j
        where j.id in (select unnest(v_seen) except select unnest(v_locked))
          and j.status = 'running')
      then
        return v_locked;
      end if;
      raise exception using errcode = 'QW002', message = 'claimed meanwhile';
    exception
      when sqlstate 'QW002' then
        continue;
    end;
  end loop;
  return '{}'::bigint[];
end $$;
comment on function qwf._lock_stoppable(bigint[]) is
  'Locks the free nodes of these runs that do not run, and returns them.';
revoke all on function qwf._lock_stoppable(bigint[]) from public;

commit;

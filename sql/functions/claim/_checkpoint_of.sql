-- Deploy qwf:functions/claim/_checkpoint_of
-- Purpose: Returns what the last attempt of a job that saved a checkpoint has saved; null: none.
-- Guarantees: The planner cannot inline it: a claim of first attempts does not open the table.
-- Called by: claim.

begin;

create function _qwf.checkpoint_of(p_job bigint) returns jsonb
language sql stable
as $$
  select c.value from qwf.checkpoints c where c.job_id = p_job
$$;

commit;

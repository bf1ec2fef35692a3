-- Verify qwf:views/unassignable_jobs

begin;

select id, run_id, node_id, task, queue, required_model, vram_mb, requires, waited from
  qwf.unassignable_jobs where false;

rollback;

-- Verify qwf:views/fleet

begin;

select worker, host, queue, pid, version, slots, running, current_model, vram_mb, project,
  rank, state, reason, until, last_seen, started_at, out_root from qwf.fleet where false;

rollback;

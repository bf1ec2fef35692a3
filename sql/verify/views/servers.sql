-- Verify qwf:views/servers

begin;

select host, queue, server, kind, external, state, model, inflight, parallel, idle_s, card,
  vram_mb, models, since_s, load_s, starts, crashes, error, worker, last_seen
from qwf.servers where false;

rollback;

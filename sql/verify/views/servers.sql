-- Verify qwf:views/servers

begin;

select host, queue, server, kind, external, state, model, inflight, parallel, idle_s, card,
  vram_mb, models, lacks, since_s, load_s, starts, crashes,
  tokens, prompt_tokens, tokens_per_s, error, worker, last_seen
from qwf.servers where false;

rollback;

-- Deploy qwf:views/health/sleeper_overview
-- Purpose: How many workers of each queue sleep until a job comes.

begin;

create view qwf.sleeper_overview as
select s.queue, count(*) as workers, min(s.since) as since
from qwf.sleepers s
group by s.queue;
comment on view qwf.sleeper_overview is
  'Queues whose workers sleep until a job comes: select * from qwf.sleeper_overview.';
comment on column qwf.sleeper_overview.queue is 'Queue they serve.';
comment on column qwf.sleeper_overview.workers is 'How many sleep.';
comment on column qwf.sleeper_overview.since is 'Since when the first of them sleeps.';

commit;

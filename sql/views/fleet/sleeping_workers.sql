-- Deploy qwf:views/fleet/sleeping_workers
-- Purpose: Workers that sleep until a job comes.
-- Guarantees: Reads an unlogged table, so a standby cannot answer.

begin;

create view qwf.sleeping_workers as
select s.worker, w.host, s.queue, s.since, qwf.now() - s.since as asleep
from qwf.sleepers s
left join qwf.workers w on w.id = s.worker
where s.since > qwf.now() - interval '15 s';
comment on view qwf.sleeping_workers is
  'Workers that have found their queue empty and sleep: select * from qwf.sleeping_workers.';
comment on column qwf.sleeping_workers.worker is 'Worker id.';
comment on column qwf.sleeping_workers.host is 'Box it runs on; null: it is not registered.';
comment on column qwf.sleeping_workers.queue is 'Queue it found empty.';
comment on column qwf.sleeping_workers.since is
  'When it last said that it sleeps; one that sleeps says so every few seconds.';
comment on column qwf.sleeping_workers.asleep is 'How long ago that was.';

commit;

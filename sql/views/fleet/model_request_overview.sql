-- Deploy qwf:views/fleet/model_request_overview
-- Purpose: Models that people have asked boxes to load or unload within a day, and how far that is.

begin;

create view qwf.model_request_overview as
select
  r.id, r.host, r.queue, r.model, r.action, r.login, r.acting_for, r.requested_at,
  r.taken_by, r.progress,
  r.answered_at, r.error,
  case
    when r.error is not null then 'failed'
    when r.answered_at is not null then 'done'
    when w.id is not null then 'under way'
    when r.taken_by is not null then 'abandoned'
    when r.requested_at < qwf.now() - interval '5 min' then 'expired'
    else 'waiting'
  end as state
from qwf.model_requests r
cross join qwf.settings s
left join qwf.workers w on w.id = r.taken_by and w.stopped_at is null
  and w.last_seen > qwf.now() - s.worker_stale
order by r.id desc;
comment on view qwf.model_request_overview is
  'Requests of the last day to load or unload models: select * from qwf.model_request_overview.';
comment on column qwf.model_request_overview.id is 'Id that request_model() returned.';
comment on column qwf.model_request_overview.host is 'The box.';
comment on column qwf.model_request_overview.queue is 'The queue whose worker should do it.';
comment on column qwf.model_request_overview.model is 'The model; null: unload all.';
comment on column qwf.model_request_overview.action is 'load or unload.';
comment on column qwf.model_request_overview.login is 'Login that asked.';
comment on column qwf.model_request_overview.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.model_request_overview.requested_at is 'When it was asked for.';
comment on column qwf.model_request_overview.taken_by is 'Worker that took it; null: none yet.';
comment on column qwf.model_request_overview.progress is
  'How far it is, in words; null: nothing was reported.';
comment on column qwf.model_request_overview.answered_at is 'When it was done or had failed.';
comment on column qwf.model_request_overview.error is 'Why it failed; null: it has not.';
comment on column qwf.model_request_overview.state is
  'waiting (a worker may take it), under way, done, failed, expired (no worker took it within five '
  'minutes) or abandoned (the worker that took it has ended).';

commit;

-- Deploy qwf:views/jobs/live_log_overview
-- Purpose: The ends of the logs that somebody follows, while their jobs run.
-- Guarantees: Reads an unlogged table, so a standby cannot answer.

begin;

create view qwf.live_log_overview as
select
  l.job_id, l.worker, l.attempt, l.end_offset, l.tail, l.followed_until,
  l.followed_until > clock.now as sent
from qwf.live_logs l
cross join (select qwf.now() as now) clock
join qwf.jobs j on j.id = l.job_id and j.attempt = l.attempt and j.status = 'running';
comment on view qwf.live_log_overview is
  'Logs of running jobs that somebody follows: select * from qwf.live_log_overview where job_id = '
  '7.';
comment on column qwf.live_log_overview.job_id is 'The job.';
comment on column qwf.live_log_overview.worker is 'Worker that was asked for the log.';
comment on column qwf.live_log_overview.attempt is 'Attempt that printed it.';
comment on column qwf.live_log_overview.end_offset is
  'Number of bytes that the attempt has printed up to the end of tail.';
comment on column qwf.live_log_overview.tail is 'The end of what the attempt has printed.';
comment on column qwf.live_log_overview.followed_until is
  'Until when the worker sends the log; followers extend it.';
comment on column qwf.live_log_overview.sent is 'True: the worker sends it now.';

commit;

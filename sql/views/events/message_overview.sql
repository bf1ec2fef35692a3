-- Deploy qwf:views/events/message_overview
-- Purpose: The messages of alerts, and whether each was delivered.

begin;

create view qwf.message_overview as
select
  m.id, m.alert_id, m.rule, m.state, m.subject,
  coalesce(m.receiver, 'task ' || j.task, 'workflow ' || r.workflow) as sent_to, m.created_at,
  m.sent_job, m.sent_run, coalesce(j.status::text, r.status::text) as delivery,
  split_part(left(coalesce(j.last_error, r.error), 500), E'\n', 1) as delivery_error
from qwf.alert_messages m
left join qwf.jobs j on j.id = m.sent_job
left join qwf.runs r on r.id = m.sent_run;
comment on view qwf.message_overview is
  'The messages of alerts, and whether each was delivered: '
  'select * from qwf.message_overview order by created_at desc limit 10.';
comment on column qwf.message_overview.id is
  'Id of the message, the same in each try to deliver it.';
comment on column qwf.message_overview.alert_id is 'The alert; null: a storm or a test.';
comment on column qwf.message_overview.rule is 'Name of the rule.';
comment on column qwf.message_overview.state is 'open, still, resolved, storm or test.';
comment on column qwf.message_overview.subject is 'Name of what it is about.';
comment on column qwf.message_overview.sent_to is
  'Who gets it: the receiver, else the task or workflow.';
comment on column qwf.message_overview.created_at is 'When the rule made it.';
comment on column qwf.message_overview.sent_job is 'The job that delivers it; null: a run does.';
comment on column qwf.message_overview.sent_run is
  'The run that gets it; null: a job delivers it.';
comment on column qwf.message_overview.delivery is
  'Status of that job or run: completed means delivered. Null: it is deleted.';
comment on column qwf.message_overview.delivery_error is
  'Why its last try failed, one line of at most 500 characters; null: it did not.';

commit;

-- Deploy qwf:views/jobs/answer_overview
-- Purpose: The answers that people gave to questions.

begin;

create view qwf.answer_overview as
select
  a.id, a.job_id, j.run_id, j.node_id, j.task, j.project, j.input_spec ->> 'prompt' as prompt,
  a.value, a.login, a.acting_for, a.by_default, a.answered_at,
  greatest('0', clock.now - a.answered_at) as ago
from qwf.input_answers a
cross join (select qwf.now() as now) clock
left join qwf.jobs j on j.id = a.job_id;
comment on view qwf.answer_overview is
  'Answers that people gave: select * from qwf.answer_overview where job_id = 7 order by id desc.';
comment on column qwf.answer_overview.id is 'Grows in order of writing.';
comment on column qwf.answer_overview.job_id is 'The job that asked.';
comment on column qwf.answer_overview.run_id is 'Its run; null: standalone, or deleted.';
comment on column qwf.answer_overview.node_id is 'Its node.';
comment on column qwf.answer_overview.task is 'input, or the task that failed.';
comment on column qwf.answer_overview.project is 'Tenant tag of the job.';
comment on column qwf.answer_overview.prompt is 'The question that the job asked last.';
comment on column qwf.answer_overview.value is 'The value given.';
comment on column qwf.answer_overview.login is 'Login that answered.';
comment on column qwf.answer_overview.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.answer_overview.by_default is
  'True: nobody answered in time, and value is the default of the question.';
comment on column qwf.answer_overview.answered_at is 'When.';
comment on column qwf.answer_overview.ago is 'How long ago.';

commit;

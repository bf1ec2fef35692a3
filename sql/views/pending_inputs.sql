-- Deploy qwf:views/pending_inputs
-- requires: schema/runs
-- requires: schema/jobs
-- requires: functions/now
-- Purpose: Questions that runs are waiting for, oldest first.

begin;

create view qwf.pending_inputs as
select
  j.run_id, r.workflow, j.node_id, j.id as job_id, j.project, j.input_spec ->> 'widget' as widget,
  j.input_spec ->> 'prompt' as prompt, j.input_spec as spec, j.queued_at as since,
  qwf.now() - j.queued_at as age
from qwf.jobs j join qwf.runs r on r.id = j.run_id
where j.status = 'awaiting_input'
order by j.queued_at;
comment on view qwf.pending_inputs is
  'Questions waiting for a person; answer with select qwf.submit_input(run_id, node_id, value).';
comment on column qwf.pending_inputs.run_id is 'Run that asks.';
comment on column qwf.pending_inputs.workflow is 'Its workflow.';
comment on column qwf.pending_inputs.node_id is 'Input node.';
comment on column qwf.pending_inputs.job_id is 'Its job.';
comment on column qwf.pending_inputs.project is 'Tenant tag.';
comment on column qwf.pending_inputs.widget is 'Kind of question.';
comment on column qwf.pending_inputs.prompt is 'The question.';
comment on column qwf.pending_inputs.spec is 'All of it: options or source, target, schema.';
comment on column qwf.pending_inputs.since is 'When it was asked.';
comment on column qwf.pending_inputs.age is 'How long it has been waiting.';

commit;

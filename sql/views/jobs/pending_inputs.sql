-- Deploy qwf:views/jobs/pending_inputs
-- Purpose: Questions that wait for a person: of inputs and of failed jobs.
-- Guarantees: expires_at and since are written as indexes of qwf.waits have them, and nothing is
--   sorted here, so that a reader of the first hundred reads a hundred.

begin;

create view qwf.pending_inputs as
select
  j.run_id, r.workflow, j.node_id, j.task, w.job_id, j.project,
  case when j.input_spec ->> 'widget' = 'on_failure' then 'failure' else 'input' end as asks,
  j.input_spec ->> 'widget' as widget, j.input_spec ->> 'prompt' as prompt,
  date_trunc('second', clock.now - w.since) as age,
  date_trunc('second', w.at at time zone 'UTC') at time zone 'UTC' as expires_at, w.since,
  j.input_spec as spec, j.input_spec ->> 'signal' as signal,
  case jsonb_typeof(j.input_spec -> 'show') when 'array' then j.input_spec -> 'show'
    when 'string' then jsonb_build_array(j.input_spec -> 'show')
    when 'object' then jsonb_build_array(j.input_spec -> 'show') else '[]' end as show
from qwf.waits w
join qwf.jobs j on j.id = w.job_id
cross join (select qwf.now() as now) clock
left join qwf.runs r on r.id = j.run_id
where w.kind = 'question';
comment on view qwf.pending_inputs is
  'Questions that wait for a person (order by since); answer with '
  'select qwf.submit_input(run_id, node_id, value) '
  'or select qwf.answer_job(job_id, value).';
comment on column qwf.pending_inputs.run_id is 'Run that asks; null: a standalone job.';
comment on column qwf.pending_inputs.workflow is 'Its workflow.';
comment on column qwf.pending_inputs.node_id is 'Its node.';
comment on column qwf.pending_inputs.task is 'input, or the task that failed.';
comment on column qwf.pending_inputs.job_id is 'Its job.';
comment on column qwf.pending_inputs.project is 'Tenant tag.';
comment on column qwf.pending_inputs.asks is
  'input: asks for a value; failure: asks whether to retry, skip or abort.';
comment on column qwf.pending_inputs.widget is 'Kind of question.';
comment on column qwf.pending_inputs.prompt is 'The question.';
comment on column qwf.pending_inputs.age is 'How long it has been waiting.';
comment on column qwf.pending_inputs.expires_at is
  'When it takes its default or fails; null: never.';
comment on column qwf.pending_inputs.since is 'When it was asked.';
comment on column qwf.pending_inputs.spec is
  'The whole question: options or source, target, schema, error.';
comment on column qwf.pending_inputs.signal is
  'The signal that answers it, too, if it comes first; null: none does.';
comment on column qwf.pending_inputs.show is
  'Files to look at before answering, a list: paths, or objects with rel_path and host.';

commit;

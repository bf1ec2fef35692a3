-- Open questions, answers, and signals.

-- Questions that wait for a person: of inputs and of failed jobs. expires_at and since are
-- written as indexes of qwf.waits have them, and nothing is sorted here, so that a reader of the
-- first hundred reads a hundred.
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

-- The answers that people gave to questions.
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

-- Steps of runs that wait for a signal, whether or not they ask a person, too.
create view qwf.awaited_signals as
select
  w.name as signal, w.project, j.run_id, r.workflow, j.node_id, w.job_id, w.since,
  j.expires_at, j.input_spec ? 'widget' as asks_person,
  coalesce(array_remove(w.refused, -1) <> '{}', false) as refused,
  j.input_spec as spec
from qwf.waits w
join qwf.jobs j on j.id = w.job_id
join qwf.runs r on r.id = j.run_id
where w.kind = 'signal';
comment on view qwf.awaited_signals is
  'Steps that wait for a signal (order by job_id); answer them all with '
  'select qwf.signal(signal, payload, project), or one with select qwf.answer_job(job_id, value).';
comment on column qwf.awaited_signals.signal is 'Name of the signal.';
comment on column qwf.awaited_signals.project is 'Project that the signal has to name.';
comment on column qwf.awaited_signals.run_id is 'Run that waits.';
comment on column qwf.awaited_signals.workflow is 'Its workflow.';
comment on column qwf.awaited_signals.node_id is 'Its step.';
comment on column qwf.awaited_signals.job_id is 'Its job.';
comment on column qwf.awaited_signals.since is 'When it began to wait.';
comment on column qwf.awaited_signals.expires_at is
  'When it takes its default or fails; null: never.';
comment on column qwf.awaited_signals.asks_person is
  'It asks a person, too: whoever answers first counts.';
comment on column qwf.awaited_signals.refused is
  'True: the last signal of that name did not fit its schema; why_not says why. Null: none came.';
comment on column qwf.awaited_signals.spec is 'The whole question: schema, target, default.';

-- Signals that are kept for steps that ask for them later.
create view qwf.kept_signals as
select s.name, s.project, s.payload, s.login, s.acting_for, s.sent_at, s.keep_until
from qwf.signals s
where s.keep_until > qwf.now();
comment on view qwf.kept_signals is
  'Signals that are kept for steps that ask for them later (order by keep_until desc): a step '
  'reads the newest of its name that fits.';
comment on column qwf.kept_signals.name is 'Name that a step waits for.';
comment on column qwf.kept_signals.project is 'Project of the steps that it answers.';
comment on column qwf.kept_signals.payload is 'The value that steps are answered with.';
comment on column qwf.kept_signals.login is 'Login of the session that sent it.';
comment on column qwf.kept_signals.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.kept_signals.sent_at is 'When it was sent.';
comment on column qwf.kept_signals.keep_until is 'Until when it answers steps that ask for it.';

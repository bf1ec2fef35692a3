-- Deploy qwf:views/jobs/awaited_signals
-- Purpose: Steps of runs that wait for a signal, whether or not they ask a person, too.

begin;

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

commit;

-- Deploy qwf:views/jobs/job_details
-- Purpose: Every column of a job except the token of the worker that runs it, so that a viewer can
--   select all of it; and what its run, its queue, its worker and the settings add.
-- Guarantees: Who reads only columns of qwf.jobs pays for nothing else.

begin;

create view qwf.job_details as
select
  j.id, j.run_id, j.graph_id, j.node_idx, j.node_id, j.queue, j.task, j.status, j.project,
  j.priority, j.run_next, j.position, j.run_at, j.inputs, j.resolved_inputs, j.output,
  j.input_spec, j.guarded, j.remaining_deps, j.attempt, j.failures, j.losses, j.retries,
  (j.options).max_attempts, (j.options).max_losses, (j.options).backoff, (j.options).timeout,
  (j.options).stall_timeout, j.required_model, j.light, j.vram_mb, j.requires, j.limit_by,
  j.limit_place, j.on_failure, j.run_if, j.expires_at, j.avoid_host, j.avoid_until,
  (j.options).start_by, j.parent_id, j.element, j.elements,
  j.failed_elements, j.next_element, j.claimed_by, j.claimed_at, j.lease_expires_at,
  p.fraction as progress, p.message as progress_message, p.at as beat_at, j.last_error,
  j.last_exit_code, j.login, j.acting_for, j.schedule, j.checked, j.key, j.key_state, j.once,
  j.labels, j.created_at, j.queued_at, j.started_at, j.finished_at, j.erased_parts,
  j.begun is not null as at_most_once, j.begun,
  coalesce(w.host, split_part(j.claimed_by, ':', 1)) as host,
  round(extract(epoch from
    coalesce(j.finished_at, case when j.status = 'running' then clock.now end) - j.claimed_at),
    3)::float8 as seconds,
  (select count(*) from qwf.job_attempts a
    where a.job_id = j.id and a.outcome = 'released')::int as released,
  r.workflow, r.status as run_status, r.out_dir, q.paused as queue_paused,
  coalesce((j.options).max_attempts, (select s.error_attempts from qwf.settings s)) as error_tries,
  coalesce((j.options).max_attempts, (select s.transient_attempts from qwf.settings s))
    as transient_tries,
  coalesce((j.options).max_losses, (select s.max_losses from qwf.settings s)) as loss_tries,
  coalesce((j.options).backoff, (select s.error_backoff from qwf.settings s)) as error_backoff,
  coalesce((j.options).timeout, q.timeout, (select s.timeout from qwf.settings s)) as time_limit,
  coalesce(j.on_failure, q.on_failure) as failure_means,
  coalesce(q.lease, (select s.lease from qwf.settings s)) as lease,
  j.lease_expires_at - clock.now as lease_left,
  c.login as stop_login, c.acting_for as stop_acting_for, c.requested_at as stop_at,
  k.value as checkpoint, k.attempt as checkpoint_attempt, k.at as checkpoint_at
from qwf.jobs j
cross join (select qwf.now() as now) clock
left join qwf.runs r on r.id = j.run_id
left join qwf.queues q on q.name = j.queue
left join qwf.workers w on w.id = j.claimed_by
left join qwf.cancel_requests c on c.job_id = j.id
left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
left join qwf.checkpoints k on k.job_id = j.id;
comment on view qwf.job_details is
  'Every column of qwf.jobs except the token, and what its progress, its run, queue, '
  'worker and the settings add: select * from qwf.job_details where id = 7.';
comment on column qwf.job_details.id is 'Job id; grows with time.';
comment on column qwf.job_details.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.job_details.graph_id is 'Graph of that run.';
comment on column qwf.job_details.node_idx is
  'Its node in that graph; null for an element of a map.';
comment on column qwf.job_details.node_id is
  'step/node; step/node[3] for an element of a map; the step, for an input.';
comment on column qwf.job_details.queue is 'Queue that serves it; null for an input.';
comment on column qwf.job_details.task is 'Name of the task or program that a worker runs.';
comment on column qwf.job_details.status is 'State; see docs/concepts.md.';
comment on column qwf.job_details.project is 'Tenant tag; empty is a project like any other.';
comment on column qwf.job_details.priority is 'Lower is sooner.';
comment on column qwf.job_details.run_next is
  'An operator asked that it runs before all others; cleared on claim.';
comment on column qwf.job_details.position is
  'FIFO position, given when it becomes queued; a job that is given back gets the front.';
comment on column qwf.job_details.run_at is 'Not started before this time; set while scheduled.';
comment on column qwf.job_details.inputs is
  'Inputs as defined, references unresolved; args of a standalone job.';
comment on column qwf.job_details.resolved_inputs is
  'Inputs as last handed to a worker; null if inputs hold no reference.';
comment on column qwf.job_details.output is
  'Value that the body returned; the answer, for an input.';
comment on column qwf.job_details.input_spec is
  'The question to a person: widget, prompt, target, options; references resolved when it is '
  'asked.';
comment on column qwf.job_details.guarded is
  'Opened one by one rather than in bulk: it has a skip_if, is a map, or is an input.';
comment on column qwf.job_details.remaining_deps is
  'Dependencies not yet satisfied; of an expanded map: elements that have not ended.';
comment on column qwf.job_details.attempt is 'Claims so far.';
comment on column qwf.job_details.failures is
  'Failures of the body itself, transient ones included.';
comment on column qwf.job_details.losses is
  'Attempts lost for a reason outside the body: lapsed lease, killed child, watchdog.';
comment on column qwf.job_details.retries is
  'How often somebody retried it after it had ended.';
comment on column qwf.job_details.max_attempts is
  'Attempts the body has; null: the settings (1 for errors, 4 for transient failures).';
comment on column qwf.job_details.max_losses is 'Losses after which it fails; null: the setting.';
comment on column qwf.job_details.backoff is
  'Seconds between attempts: a list, or {"base", "factor", "max"}; null: the settings.';
comment on column qwf.job_details.timeout is
  'Wall-clock limit of one attempt; null: the queue''s or the setting.';
comment on column qwf.job_details.stall_timeout is
  'Longest time between progress reports; null: the setting.';
comment on column qwf.job_details.required_model is
  'Model the worker must be able to load; null: none.';
comment on column qwf.job_details.light is 'May run beside a model job on the same card.';
comment on column qwf.job_details.vram_mb is 'GPU memory it needs, MiB; null: unknown.';
comment on column qwf.job_details.requires is 'Labels the worker must have.';
comment on column qwf.job_details.limit_by is
  'Named limit it counts against while it runs, LIMIT:KEY if the limit counts by key; null: none.';
comment on column qwf.job_details.limit_place is
  'Place of its key in the line, and the lock of the key: a hash of limit_by, if its limit counts '
  'by key; else null.';
comment on column qwf.job_details.on_failure is
  'When it fails for good: fail (its run fails), continue (dependants go on), ask (a person '
  'decides); null: as its queue says then.';
comment on column qwf.job_details.run_if is
  'all_done: runs once its dependencies have ended, however they ended; compensates: takes back '
  'other nodes if the run ends badly; null: runs once its dependencies are satisfied.';
comment on column qwf.job_details.expires_at is
  'Cancelled if it has not been claimed by then; an input takes its default or fails.';
comment on column qwf.job_details.avoid_host is
  'Host that lost it, whose accelerator failed or disk was full, or that has older code than its '
  'producer; left to other hosts while one could take it.';
comment on column qwf.job_details.avoid_until is 'Until when that host is avoided.';
comment on column qwf.job_details.at_most_once is
  'True: nothing tries its body a second time by itself.';
comment on column qwf.job_details.begun is
  'Of a job that runs at most once: whether its body may have begun. Null: an ordinary job.';
comment on column qwf.job_details.start_by is
  'The latest start that every call merged into it allows: a call with debounce moves run_at no '
  'further. Null: no call moves run_at to later.';
comment on column qwf.job_details.parent_id is 'Map it is an element of; null: none.';
comment on column qwf.job_details.element is 'Position in the list of that map, from 0.';
comment on column qwf.job_details.elements is 'Number of elements of an expanded map; null: none.';
comment on column qwf.job_details.next_element is
  'No element of the map before this one is blocked; null: it has not been expanded.';
comment on column qwf.job_details.failed_elements is 'Elements of the map that failed.';
comment on column qwf.job_details.claimed_by is 'Worker of the last claim.';
comment on column qwf.job_details.claimed_at is 'Time of the last claim.';
comment on column qwf.job_details.lease_expires_at is
  'When the claim lapses unless renewed, by the database''s clock.';
comment on column qwf.job_details.progress is 'Fraction done, 0 to 1, as the body last reported.';
comment on column qwf.job_details.progress_message is 'Message of the last progress report.';
comment on column qwf.job_details.beat_at is 'When the body last reported progress.';
comment on column qwf.job_details.last_error is 'Error of the last attempt that had one.';
comment on column qwf.job_details.last_exit_code is
  'Exit code of the last attempt; negative: killed by that signal.';
comment on column qwf.job_details.login is
  'Login of the session that enqueued it, or replaced it (key_mode replace): nobody can set it. '
  'For a schedule, of who called tick(). Null for a node: its run has it.';
comment on column qwf.job_details.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.job_details.schedule is 'The schedule that enqueued it; null: none did.';
comment on column qwf.job_details.checked is
  'The typed Python client has compared the arguments with the function of the task: a worker that '
  'cannot take them has older code.';
comment on column qwf.job_details.erased_parts is
  'Parts that erase() has overwritten, by name; null: none. An erased job is not retried.';
comment on column qwf.job_details.key is
  'Says which jobs of a project and task are the same work: one of them waits, and one runs.';
comment on column qwf.job_details.key_state is
  'w: waits, and others of its key merge into it; s: has started; u: no key, or once.';
comment on column qwf.job_details.once is
  'True: the key stays taken until the row is deleted.';
comment on column qwf.job_details.labels is
  'Tags of the caller. Searches filter by them; no claim does.';
comment on column qwf.job_details.created_at is 'When it was enqueued.';
comment on column qwf.job_details.queued_at is 'When it last became claimable.';
comment on column qwf.job_details.started_at is 'When it was first claimed.';
comment on column qwf.job_details.finished_at is 'When it became terminal.';
comment on column qwf.job_details.host is 'Box of the last claim.';
comment on column qwf.job_details.seconds is
  'Seconds that its last attempt took, or has taken so far.';
comment on column qwf.job_details.released is
  'Attempts that were given back and count as neither failure nor loss.';
comment on column qwf.job_details.workflow is 'Workflow of its run; null: standalone.';
comment on column qwf.job_details.run_status is 'State of its run; null: standalone.';
comment on column qwf.job_details.out_dir is
  'Folder in which its run leaves files; null: that of the agent.';
comment on column qwf.job_details.queue_paused is 'True: nobody gets jobs of its queue.';
comment on column qwf.job_details.error_tries is
  'Attempts that its body has if it fails with errors: max_attempts or the setting.';
comment on column qwf.job_details.transient_tries is
  'Attempts that its body has if it fails for passing reasons: max_attempts or the setting.';
comment on column qwf.job_details.loss_tries is
  'Losses after which it fails: max_losses or the setting.';
comment on column qwf.job_details.error_backoff is
  'Seconds between attempts after errors: backoff or the setting.';
comment on column qwf.job_details.time_limit is
  'Wall-clock limit of one attempt: timeout, that of its queue, or the setting.';
comment on column qwf.job_details.failure_means is
  'fail, continue or ask: on_failure, or that of its queue; null: neither says it.';
comment on column qwf.job_details.lease is
  'How long a claim lasts without a heartbeat: that of its queue, or the setting.';
comment on column qwf.job_details.lease_left is
  'How long until the claim lapses; negative: it can be taken back.';
comment on column qwf.job_details.stop_login is
  'Login that asked to stop it; null: nobody has.';
comment on column qwf.job_details.stop_acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.job_details.stop_at is 'When somebody asked to stop it.';
comment on column qwf.job_details.checkpoint is
  'The value that its body saved last, for the next attempt; null: none.';
comment on column qwf.job_details.checkpoint_attempt is 'The attempt that saved it.';
comment on column qwf.job_details.checkpoint_at is 'When it was saved.';

commit;

-- One job in every detail, with its timeline, its attempts and its dependencies.

-- Every column of a job except the token of the worker that runs it, so that a viewer can select
-- all of it; and what its run, its queue, its worker and the settings add. Who reads only
-- columns of qwf.jobs pays for nothing else.
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
  (select coalesce(_qwf.as_number(a.detail -> 'exit_code', 65535),
      - _qwf.as_number(a.detail -> 'signal', 255))::int
    from qwf.job_attempts a where a.job_id = j.id order by a.attempt desc limit 1)
    as last_exit_code, j.login, j.acting_for, j.schedule, j.checked, j.key, j.key_state, j.once,
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
  'FIFO position, given when it becomes queued; a job that was lost or released gets the front.';
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
  'Attempts that were released: they count as neither failure nor loss.';
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

-- History of a job, in order: its attempts and unusual events.
create view qwf.job_timeline as
select
  j.id as job_id, j.run_id, coalesce(j.node_id, j.task) as name,
  date_trunc('milliseconds', t.at) as at, t.attempt, t.what, t.by,
  round(t.waited, 3) as waited, round(t.took, 3) as took, t.detail
from qwf.jobs j
cross join (select qwf.now() as now) clock
cross join lateral (
  select
    a.started_at, a.attempt, a.outcome, a.worker, extract(epoch from a.started_at - a.queued_at),
    extract(epoch from a.finished_at - a.started_at),
    left(concat_ws(': ', left(a.detail ->> 'reason', 1000), split_part(a.error, E'\n', 1)), 200)
  from qwf.job_attempts a
  where a.job_id = j.id
  union all
  select j.claimed_at, j.attempt, 'running', j.claimed_by,
    extract(epoch from j.claimed_at - j.queued_at), extract(epoch from clock.now - j.claimed_at),
    (select p.message from qwf.job_progress p where p.job_id = j.id and p.attempt = j.attempt)
  where j.status = 'running'
  union all
  select e.at, null, e.kind,
    coalesce(e.detail ->> 'worker',
      quote_ident(e.login) || coalesce(', acting for ' || e.acting_for, '')),
    null, null, left(nullif(e.detail, '{}')::text, 200)
  from _qwf.event_log e
  where e.job_id = j.id and e.kind <> 'job_failed'  -- its attempt tells
) t (at, attempt, what, by, waited, took, detail)
order by j.id, t.at, t.attempt;
comment on view qwf.job_timeline is
  'Attempts at a job and unusual events, in order: select * from qwf.job_timeline where job_id = '
  '1.';
comment on column qwf.job_timeline.job_id is 'The job.';
comment on column qwf.job_timeline.run_id is 'Its run; null: standalone.';
comment on column qwf.job_timeline.name is 'Its node, or the task of a standalone job.';
comment on column qwf.job_timeline.at is 'When it happened; of an attempt, when it was claimed.';
comment on column qwf.job_timeline.attempt is 'Which claim it was, from 1; null: an event.';
comment on column qwf.job_timeline.what is
  'How the attempt ended, or running; of an event, its kind.';
comment on column qwf.job_timeline.by is
  'Worker that held it; of an event, the login that did it and for '
  'whom, or the worker.';
comment on column qwf.job_timeline.waited is 'Seconds from claimable to claimed.';
comment on column qwf.job_timeline.took is 'Seconds from claimed to the end, or to now.';
comment on column qwf.job_timeline.detail is
  'Reason and first line of the error, last progress message, or details of the event.';

-- The attempts at jobs that have ended, with what they used, printed and failed of. Who does not
-- read columns of the job or the box does not pay for them. An invalid number in a report is
-- null.
create view qwf.attempt_overview as
select
  a.job_id, a.attempt, j.run_id, j.node_id, j.task, j.project, a.token, a.worker,
  coalesce(w.host, split_part(a.worker, ':', 1)) as host, a.queued_at, a.started_at, a.finished_at,
  a.outcome, left(a.detail ->> 'reason', 1000) as reason, a.error,
  _qwf.as_number(a.detail -> 'exit_code', 65535)::int as exit_code,
  _qwf.as_number(a.detail -> 'signal', 255)::int as signal,
  _qwf.as_number(a.detail -> 'max_rss_bytes')::bigint as max_rss_bytes,
  _qwf.as_number(a.detail -> 'cpu_seconds')::real as cpu_seconds,
  _qwf.as_number(a.detail -> 'body_s', 1e9)::real as body_seconds,
  _qwf.as_number(a.detail -> 'gpu_peak_bytes')::bigint as gpu_peak_bytes, a.log_tail,
  case when jsonb_typeof(a.detail -> 'usage') = 'object' then a.detail -> 'usage' end as usage,
  case when jsonb_typeof(a.detail #> '{batch,jobs}') = 'array'
    and jsonb_typeof(a.detail #> '{batch,size}') = 'number' then a.detail -> 'batch' end as batch
from qwf.job_attempts a
left join qwf.jobs j on j.id = a.job_id
left join qwf.workers w on w.id = a.worker;
comment on view qwf.attempt_overview is
  'Attempts that have ended: select * from qwf.attempt_overview where job_id = 7 order by '
  'attempt.';
comment on column qwf.attempt_overview.job_id is 'The job.';
comment on column qwf.attempt_overview.attempt is 'Which claim of the job it was, from 1.';
comment on column qwf.attempt_overview.run_id is 'Run of the job; null: standalone.';
comment on column qwf.attempt_overview.node_id is 'Node of the job.';
comment on column qwf.attempt_overview.task is 'Name of the task or program that the worker ran.';
comment on column qwf.attempt_overview.project is 'Tenant tag of the job.';
comment on column qwf.attempt_overview.token is 'Token of that claim, which is spent.';
comment on column qwf.attempt_overview.worker is 'Worker that held it.';
comment on column qwf.attempt_overview.host is 'Box of that worker.';
comment on column qwf.attempt_overview.queued_at is 'When the job had become claimable.';
comment on column qwf.attempt_overview.started_at is 'When it was claimed.';
comment on column qwf.attempt_overview.finished_at is 'When its end was recorded.';
comment on column qwf.attempt_overview.outcome is
  'completed, error, fatal, tempfail, lost, released or cancelled.';
comment on column qwf.attempt_overview.reason is
  'Exact cause: crashed, timeout, oom, lease_lapsed, accelerator, unresolved and so on.';
comment on column qwf.attempt_overview.error is 'Error text; of a long one, the start and the end.';
comment on column qwf.attempt_overview.exit_code is 'Exit code of the child or command.';
comment on column qwf.attempt_overview.signal is 'Signal that killed it.';
comment on column qwf.attempt_overview.max_rss_bytes is
  'Largest resident memory of the child, bytes.';
comment on column qwf.attempt_overview.cpu_seconds is 'CPU time used, seconds.';
comment on column qwf.attempt_overview.body_seconds is
  'How long the body ran, seconds; null: the worker did not say it. From started_at on, an agent '
  'may have run other jobs of the same claim first.';
comment on column qwf.attempt_overview.gpu_peak_bytes is 'Largest GPU memory used, bytes.';
comment on column qwf.attempt_overview.log_tail is
  'Output of the body, cut as qwf.job_attempts says; null: the worker sent no log.';
comment on column qwf.attempt_overview.usage is
  'Tokens that the body used of model servers, as these count them.';
comment on column qwf.attempt_overview.batch is
  'The batch in which it ran: size, and the ids of its first 20 jobs; null: it ran alone.';

-- The jobs that a node of a run waits for, and those whose outputs it reads.
create view qwf.dependency_overview as
select
  j.id as job_id, j.run_id, d.id as needs_job_id, d.node_id, d.status, d.on_failure, u.waits,
  u.reads
from qwf.jobs j
join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
cross join lateral (
  select s.idx, bool_or(s.waits) as waits, bool_or(not s.waits) as reads
  from (
    select e.from_idx, true
    from qwf.graph_edges e
    where e.graph_id = n.graph_id and e.to_idx = n.idx
    union all
    select r.idx, false from unnest(n.ref_nodes) r (idx)
  ) s (idx, waits)
  group by s.idx
) u
join qwf.jobs d on d.run_id = j.run_id and d.node_idx = u.idx;
comment on view qwf.dependency_overview is
  'Jobs that nodes wait for or read: select * from qwf.dependency_overview where job_id = 7.';
comment on column qwf.dependency_overview.job_id is 'The job that depends.';
comment on column qwf.dependency_overview.run_id is 'Run of both.';
comment on column qwf.dependency_overview.needs_job_id is 'The job it depends on.';
comment on column qwf.dependency_overview.node_id is 'Node of that job.';
comment on column qwf.dependency_overview.status is 'State of that job.';
comment on column qwf.dependency_overview.on_failure is
  'The effect of its failure: fail, continue or ask; null: as its queue says.';
comment on column qwf.dependency_overview.waits is
  'True: the job does not start before this one has ended.';
comment on column qwf.dependency_overview.reads is
  'True: the inputs, skip_if or question of the job refer to its output.';

-- Deploy qwf:schema/private_types
-- The row types that private functions pass to each other.

begin;

create type _qwf.problem as (path text, problem text, hint text);
comment on type _qwf.problem is
  'One problem of a definition or a value: where (a JSON path), what, and what to do.';

create type _qwf.event_group as (
  kind text, counts_as text, names jsonb, subject text, status text, child boolean, labels jsonb,
  run_id bigint, job_id bigint, events bigint, first_at timestamptz, last_at timestamptz,
  first_seq bigint, last_seq bigint, times timestamptz[]);
comment on type _qwf.event_group is
  'New events that mean the same to a rule: what they have in common, how many there are, and '
  'when; run_id and job_id are those of the last one.';

create type _qwf.alert_terms as (
  rule text, kinds text[], ends text[], names jsonb, label jsonb, status text, by text,
  notify text, children boolean, more_than int, within interval, pause interval,
  repeat interval, calm interval);
comment on type _qwf.alert_terms is
  'A rule of alerts as columns. ends: kinds of events that end its alerts; pause: the time `for`.';

create type _qwf.alert_change as (
  rule text, key text, subject text, kind text, bad bigint, good_last boolean,
  first_bad timestamptz, last_bad timestamptz, first_seq bigint, last_seq bigint, run_id bigint,
  job_id bigint, times timestamptz[], paired boolean, more_than int, within interval,
  pause interval, repeat interval, calm interval);
comment on type _qwf.alert_change is
  'Meaning of new events to a rule, of one subject: how many are bad, when, and whether a good '
  'end came last; paired: a good end may come. Then the terms of the rule.';

create type _qwf.due_message as (rule text, alert_id bigint, state text, count bigint);
comment on type _qwf.due_message is
  'A message to be sent: of which rule and alert (null: of none), its state, and how many it '
  'counts.';

create type _qwf.finding as (level text, subject text, says text, hint text);
comment on type _qwf.finding is
  'A finding of a check of doctor(): its level, its subject, the sentence, the remedy.';

create type _qwf.resolution as (value jsonb, error text);
comment on type _qwf.resolution is
  'A resolved value, or why a reference in it could not be resolved. One of them is null.';

create type _qwf.claim_terms as (
  closed boolean, packed boolean, max_running int, lease interval, timeout interval,
  limited boolean, keyed boolean, asleep boolean, crowded boolean, worker qwf.workers);
comment on type _qwf.claim_terms is
  'The terms of a claim. closed: the queue is paused or the worker is off; packed: a better '
  'worker comes first; limited: jobs wait for a limit; keyed: for '
  'one that counts by key; asleep: somebody sleeps on the queue; crowded: it has a floor; '
  'worker: its row, null if it is not registered.';

create type _qwf.picked as (
  "row" tid, id bigint, run_id bigint, inputs jsonb, error text, rare boolean, out_dir text,
  run_created_at timestamptz);
comment on type _qwf.picked is
  'A job about to be handed out: the ctid of its locked row, and its resolved inputs (null: they '
  'hold no reference), or why they cannot be resolved; rare: it has a key, and may take over from '
  'an older job of it that waits for its next try, or a deadline, or runs at most once. '
  'Of a node also the folder of its run, and when the run was enqueued.';

create type _qwf.nodes_read as (jobs _qwf.picked[], runs bigint[]);
comment on type _qwf.nodes_read is
  'Picked jobs with their inputs, and their runs if one of these has not started (else null).';

create type _qwf.permit as (limit_name text, slot int, start int);
comment on type _qwf.permit is
  'The parts of a limit that a job needs before it is handed out: a locked free slot, and a locked'
  ' start (null: the limit has no rate).';

create type _qwf.special_pick as (
  jobs _qwf.picked[], permits _qwf.permit[], room int, rated bigint[],
  capped boolean, limited boolean, model text);
comment on type _qwf.special_pick is
  'The jobs that _pick_special picked, the permits that it locked for them, how many jobs '
  'there was room for, and the ids of those whose limit has a rate; capped: they are as many as '
  'the worker could begin, and there may be more; '
  'limited: there is something to write when the jobs run; '
  'model: the loaded model whose jobs come first, null: none.';

create type _qwf.limit_key as (
  band bigint, part int, place bigint, after bigint, name text, head bigint, max_running int,
  starts int, per interval, nth int, pinned boolean, locked boolean);
comment on type _qwf.limit_key is
  'A key of a limit as a claim comes to it in a band of a line, or (without a name) the end of the '
  'line: part, place and after say where the walk goes on; then the position of its first job that '
  'fits, the numbers of its limit, and the how many-th it is; pinned: the walk has passed a job '
  'that waits for another host.';

create type _qwf.keyed_job as (job _qwf.picked, place bigint, lap bigint, nth int, rated boolean);
comment on type _qwf.keyed_job is
  'A picked job: the place of its key, the how many-th of its key it is, and which turn the key '
  'has; rated: its limit has a rate.';

create type _qwf.turn as (owner bigint, slot int, shared bigint, own bigint);
comment on type _qwf.turn is
  'Where a claim goes on in the line of a queue. owner: as in turn_owner_0; slot: the number of '
  'the sequence that keeps it for all sessions, null: none is free; shared: what that held; own: '
  'the place that counts instead, because this session keeps one of its own.';

create type _qwf.report as (
  job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb);
comment on type _qwf.report is 'A worker''s report about the end of an attempt.';

create type _qwf.report_terms as (
  dropping text[], max_output int, max_detail int);
comment on type _qwf.report_terms is
  'The terms of a call of finish_many. dropping: queues that keep no completed jobs; max_output, '
  'max_detail: how many bytes an ordinary report may have.';

create type _qwf.transition as (
  status qwf.job_status, outcome text, failures int, losses int, wait double precision,
  front boolean, error text, begun boolean);
comment on type _qwf.transition is
  'State a job goes to when an attempt ends, and what the attempt costs of its budgets. outcome: '
  'as what it counts.';

create type _qwf.new_job as (
  ord int, task text, args jsonb, queue text, priority int, run_at timestamptz, key text,
  max_attempts int, backoff jsonb, timeout interval, model text, vram_mb int, requires jsonb,
  limit_by text, on_failure text, expires interval, project text, labels jsonb, once boolean,
  light boolean, max_losses int, key_mode text, debounce interval, debounce_max interval,
  notify text, at_most_once boolean);
comment on type _qwf.new_job is 'One item of enqueue_many, parsed, checked and with its defaults.';

create type _qwf.job_key as (project text, task text, key text);
comment on type _qwf.job_key is 'The columns that must be unique of a standalone job.';

create type _qwf.ended as (
  id bigint, run_id bigint, node_id text, queue text, status qwf.job_status, attempt int,
  worker text, token uuid, outcome text, detail jsonb);
comment on type _qwf.ended is
  'A job whose attempt has just ended, with what was reported about it.';

create type _qwf.event as (run_id bigint, job_id bigint, kind text);
comment on type _qwf.event is
  'Something to apply to a run. The kinds are those of the outbox, what a person or an expiry '
  'decides (answered, retried, passed, aborted), and how a node that did not run was cancelled '
  '(withdrawn, cut).';

create type _qwf.finished as (
  count int, ids bigint[], dropped uuid[], keys _qwf.job_key[], events _qwf.event[],
  pending bigint[], places bigint[]);
comment on type _qwf.finished is
  'Attempts that a call has ended: how many, the jobs, the tokens of those that left no row, the '
  'keys and the events of the jobs, the runs whose events wait in the outbox, and the '
  'places of the keys of limits that got room. Null: none.';

create type _qwf.node_count as (
  run_id bigint, closed int, active int, waiting int, failed int, started boolean);
comment on type _qwf.node_count is
  'Change of a run''s counters: nodes that became terminal, active, waiting, or failed '
  'without failing the run; started: one of its nodes has run.';

create type _qwf.opened as (
  id bigint, run_id bigint, status qwf.job_status, elements _qwf.node_count);
comment on type _qwf.opened is
  'A node whose dependencies are all satisfied, and its status now; blocked: a guarded node still '
  'to be opened, or a map that runs. elements: what the elements of a map that was expanded just '
  'now add to the counters of the run.';

create type _qwf.planned as (
  node_id text, idx int, job_id bigint, verdict text, because text, resumes boolean,
  anew boolean, undo text);
comment on type _qwf.planned is
  'A node in the plan of a retry: it is reused, runs again, is new or is removed, and why. '
  'resumes: a map of which the completed elements are reused. anew: its inputs may differ, or what '
  'it does. undo: the compensation nodes that have not taken back what it has done before. idx is '
  'that of the graph that the run gets, job_id null for a new node.';

create type _qwf.sorted_events as (ended bigint[], failed bigint[], ready bigint[], stop bigint[]);
comment on type _qwf.sorted_events is
  'Events sorted by what follows: nodes that have ended, those of them that failed, guarded nodes '
  'to open, runs in which nodes have to stop. Null: none.';
create type _qwf.advanced as (
  ready bigint[], elements bigint[], counts _qwf.node_count[], over bigint[], again bigint[]);
comment on type _qwf.advanced is
  'Left by _advance_runs: guarded nodes to open, ended elements of maps, counts, and runs of steps '
  'that have completed. Null: none.';

create type _qwf.served as (nodes int, run_id bigint, error text);
comment on type _qwf.served is
  'The run of a job of the queue of runs, and how many rows of nodes were made or reset for it; '
  'error: why there is none.';

create type _qwf.started_children as (count int, nodes int, runs bigint[]);
comment on type _qwf.started_children is
  'New runs of the first count jobs of a list, and how many nodes they have.';

create type _qwf.queue_head as (
  limit_by text, run_next boolean, priority int, "position" bigint, id bigint,
  queued_at timestamptz);
comment on type _qwf.queue_head is
  'The first queued job of a priority, of a limit or (null) without one.';

create type _qwf.queued_count as (
  queued int, estimated boolean, head bigint, head_since timestamptz, oldest_since timestamptz);
comment on type _qwf.queued_count is
  'Queued jobs of a queue, counted up to a bound and estimated from there on; the first of them in '
  'claim order; since when the one that waits longest waits.';

create type _qwf.signal_answers as (found int, answered int);
comment on type _qwf.signal_answers is
  'How many steps that wait for a signal were found, and how many of them it has answered.';

create type _qwf.job_filter as (
  statuses qwf.job_status[], queue text, task text, run_id bigint, node text, worker text,
  host text, project text, labels jsonb, key text, error text, signature text, args jsonb,
  text text, since timestamptz, until timestamptz);
comment on type _qwf.job_filter is 'The filter of find_jobs, checked; null: any.';

create type _qwf.run_filter as (
  statuses qwf.run_status[], workflow text, project text, labels jsonb, key text, error text,
  text text, since timestamptz, until timestamptz, parent bigint, children boolean);
comment on type _qwf.run_filter is 'The filter of find_runs, checked; null: any.';

create type _qwf.found as (ids bigint[], searched_to bigint);
comment on type _qwf.found is
  'Rows that a search found, the newest first, and the oldest id it looked at; null: it looked at '
  'all.';

create type _qwf.given_options as (
  kind text, name text, task text, queue text, options jsonb, possible text[]);
comment on type _qwf.given_options is
  'The options that a job, a schedule or a node was given, for find_missing_options; possible: '
  'those that it could have been given, null: all.';

create type _qwf.metric as (
  name text, labels text[], value double precision, kind text, help text);
comment on type _qwf.metric is
  'A row of the view metrics; labels: each is followed by its value. The name qwf_unreadable, '
  'without labels, stands for a part of the metrics that could not be read.';

create type _qwf.metric_series as (
  name text, labels text[], value double precision, kind text, help text, seconds double precision,
  edges bigint[]);
comment on type _qwf.metric_series is
  'A row of the view metric_series; seconds and edges are null unless it is a histogram.';

create type _qwf.past_run as (
  workflow text, run_id bigint, at timestamptz, status text, seconds real);
comment on type _qwf.past_run is
  'A run that ended, as its event says; seconds without the time that it waited for answers.';

create type _qwf.usual_new as (
  kind text, name text, node text, counts bigint[], longest real, last_success timestamptz,
  last_at timestamptz, last_status text, last_seconds real, last jsonb);
comment on type _qwf.usual_new is 'Figures to add to a row of usual_times.';

create type _qwf.wrong_now as (subject text, names jsonb, detail jsonb);
comment on type _qwf.wrong_now is
  'Something that is wrong now, with the names and the detail of the event that tells it.';

commit;

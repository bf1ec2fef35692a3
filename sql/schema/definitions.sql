-- Registered workflows and pipelines, and the graphs compiled from them.

create type qwf.job_options as (
  max_attempts int, max_losses int, backoff jsonb, timeout interval, stall_timeout interval,
  start_by timestamptz);
comment on type qwf.job_options is
  'Rare options of the attempts of a job. max_attempts: how many the body has; null: the settings '
  '(1 for errors, 4 for transient failures). max_losses: losses after which it fails; null: the '
  'setting. backoff: seconds between attempts, a list or {"base", "factor", "max"}; null: the '
  'settings. timeout: wall-clock limit of one attempt; null: the queue''s or the setting. '
  'stall_timeout: longest time between progress reports; null: the setting. start_by: the latest '
  'start that every call merged into it allows, so a call with debounce moves run_at no further; '
  'null: no call moves run_at to later.';

-- Versions of pipeline and workflow definitions, as registered. One version of each name is
-- current.
create table qwf.pipelines (
  id bigint generated always as identity primary key,
  name text not null,
  version int not null check (version >= 1),
  definition jsonb not null,
  workflow_names text[] not null default '{}',
  digest text not null,
  current boolean not null,
  registered_at timestamptz not null default clock_timestamp(),
  unique (name, version),
  unique (name, digest)
);

create unique index pipelines_current on qwf.pipelines (name) where current;
comment on table qwf.pipelines is 'One version of a pipeline: a typed DAG of nodes.';
comment on column qwf.pipelines.id is 'Id of this version.';
comment on column qwf.pipelines.name is 'Name that workflow steps use.';
comment on column qwf.pipelines.version is
  'Number of this content among those registered under the name, from 1.';
comment on column qwf.pipelines.definition is 'The definition as registered.';
comment on column qwf.pipelines.workflow_names is
  'Workflows that its nodes run as runs of their own, sorted, each once.';
comment on column qwf.pipelines.digest is
  'Digest of the content: the same content is the same version.';
comment on column qwf.pipelines.current is
  'True for the version that new runs use: the one registered last.';
comment on column qwf.pipelines.registered_at is 'When this content was first registered.';

create table qwf.workflows (
  id bigint generated always as identity primary key,
  name text not null,
  version int not null check (version >= 1),
  definition jsonb not null,
  pipeline_names text[] not null,
  workflow_names text[] not null default '{}',
  digest text not null,
  current boolean not null,
  registered_at timestamptz not null default clock_timestamp(),
  unique (name, version),
  unique (name, digest)
);

create unique index workflows_current on qwf.workflows (name) where current;
comment on table qwf.workflows is
  'One version of a workflow: steps that are nodes, pipelines, runs or questions to a person.';
comment on column qwf.workflows.id is 'Id of this version.';
comment on column qwf.workflows.name is
  'Name that enqueue_run takes; name@version takes an older one.';
comment on column qwf.workflows.version is
  'Number of this content among those registered under the name, from 1.';
comment on column qwf.workflows.definition is 'The definition as registered.';
comment on column qwf.workflows.pipeline_names is
  'Pipelines that its steps use, sorted, each once.';
comment on column qwf.workflows.workflow_names is
  'Workflows that its steps run as runs of their own, sorted, each once.';
comment on column qwf.workflows.digest is
  'Digest of the content: the same content is the same version.';
comment on column qwf.workflows.current is
  'True for the version that new runs use: the one registered last.';
comment on column qwf.workflows.registered_at is 'When this content was first registered.';

-- Compiled workflows: every node of every step, with absolute references and counted
-- dependencies. Immutable: a run points at its graph, so that a changed definition never changes
-- a live run.
create table qwf.graphs (
  id bigint generated always as identity primary key,
  workflow_id bigint not null references qwf.workflows,
  pipeline_ids bigint[] not null,
  child_ids bigint[] not null default '{}',
  node_count int not null,
  compensation_count int not null default 0,
  context_checks jsonb not null default '[]',
  inputs jsonb,
  outputs jsonb,
  deadline interval check (deadline > '0 s'),
  created_at timestamptz not null default clock_timestamp()
);

-- Not unique: two sessions that compile the same content at once must not wait for each other. A
-- second graph does no harm.
create index graphs_content on qwf.graphs (workflow_id, pipeline_ids, child_ids);
comment on table qwf.graphs is
  'One compiled combination of a workflow version and the pipeline versions it uses.';
comment on column qwf.graphs.id is 'Id of the graph.';
comment on column qwf.graphs.workflow_id is 'Workflow version it was compiled from.';
comment on column qwf.graphs.pipeline_ids is
  'Pipeline versions it was compiled from, sorted by pipeline name.';
comment on column qwf.graphs.child_ids is
  'Graphs of the workflows that its steps run, sorted: a run keeps them, too.';
comment on column qwf.graphs.node_count is 'Number of nodes.';
comment on column qwf.graphs.compensation_count is
  'How many of them are compensation nodes: in a run that completes they stay skipped.';
comment on column qwf.graphs.context_checks is
  'Checks of the context when a run is enqueued: step inputs with their schemas, and needed paths.';
comment on column qwf.graphs.inputs is 'Schema of the context; null: any.';
comment on column qwf.graphs.outputs is
  'Output of a run for the step that runs it, with absolute references; null: its last nodes.';
comment on column qwf.graphs.deadline is
  'Time limit of a run, from its start or from its run_at; null: no limit.';
comment on column qwf.graphs.created_at is 'When it was compiled.';

create table qwf.graph_nodes (
  graph_id bigint not null references qwf.graphs on delete cascade,
  idx int not null,
  node_id text not null,
  step_id text not null,
  pipeline text,
  workflow text,
  child_graph_id bigint,
  task text not null,
  queue text,
  dep_count int not null,
  inputs jsonb not null default '{}',
  skip_if jsonb,
  input_spec jsonb,
  has_refs boolean not null,
  ref_nodes int[] not null default '{}',
  ref_files text[] not null default '{}',
  reads_run boolean not null default false,
  required_model text,
  light boolean not null default false,
  vram_mb int,
  requires jsonb not null default '{}',
  limit_by text,
  on_failure text not null default 'fail' check (on_failure in ('fail', 'continue', 'ask')),
  run_if text check (run_if in ('all_done', 'compensates')),
  compensates text[],
  map jsonb,
  max_parallel int check (max_parallel >= 1),
  min_success text check (min_success ~ '^[0-9]+%?$'),
  stop_when_reached boolean,
  repeat jsonb,
  delay jsonb,
  at_most_once boolean,
  options qwf.job_options,
  primary key (graph_id, idx),
  unique (node_id, graph_id),
  check ((queue is null) = (input_spec is not null)),
  check (coalesce(run_if = 'compensates', false) = (compensates is not null))
);
comment on table qwf.graph_nodes is 'One node of a graph; enqueue_run copies it into jobs.';
comment on column qwf.graph_nodes.graph_id is 'Graph it belongs to.';
comment on column qwf.graph_nodes.idx is 'Position in topological order, from 0.';
comment on column qwf.graph_nodes.node_id is 'step/node; for an input, the step alone.';
comment on column qwf.graph_nodes.step_id is 'Step it came from.';
comment on column qwf.graph_nodes.pipeline is 'Pipeline it came from; null for an input.';
comment on column qwf.graph_nodes.workflow is
  'Workflow that it runs as a run of its own; null: it is a body or an input.';
comment on column qwf.graph_nodes.child_graph_id is 'Graph of that run; null: no run.';
comment on column qwf.graph_nodes.task is
  'The work: the name of a node module or task, command, or input.';
comment on column qwf.graph_nodes.queue is
  'Queue that serves it; null for an input, which needs no worker.';
comment on column qwf.graph_nodes.dep_count is 'How many nodes it depends on.';
comment on column qwf.graph_nodes.inputs is 'Inputs with absolute references.';
comment on column qwf.graph_nodes.skip_if is
  'The node is skipped when this resolves to a true value; null: never.';
comment on column qwf.graph_nodes.input_spec is
  'For an input: widget, prompt, target, source and the rest, with absolute references.';
comment on column qwf.graph_nodes.has_refs is 'True: inputs contain references.';
comment on column qwf.graph_nodes.ref_nodes is
  'idx of the nodes to whose outputs inputs, skip_if or input_spec refer.';
comment on column qwf.graph_nodes.ref_files is 'Steps or nodes to whose files they refer.';
comment on column qwf.graph_nodes.reads_run is
  'True: they refer to the run itself: its id, how it ends, its error, its failed nodes.';
comment on column qwf.graph_nodes.required_model is 'Model that must be loaded; null: none.';
comment on column qwf.graph_nodes.light is 'True: may run on the same card as a model job.';
comment on column qwf.graph_nodes.vram_mb is 'GPU memory it needs, MiB.';
comment on column qwf.graph_nodes.requires is 'Labels that a worker must have.';
comment on column qwf.graph_nodes.limit_by is 'Named limit that it counts against; null: none.';
comment on column qwf.graph_nodes.on_failure is
  'The reaction when it fails for good: fail, continue or ask.';
comment on column qwf.graph_nodes.run_if is
  'all_done: runs when its dependencies have ended, in any way; compensates: when the run ends '
  'badly and they have ended; null: when they are satisfied.';
comment on column qwf.graph_nodes.compensates is
  'Nodes that it takes back: it runs only if one of them has completed. Null: it takes back none.';
comment on column qwf.graph_nodes.map is
  'List with absolute references; the node runs once for each element. Null: it runs once.';
comment on column qwf.graph_nodes.max_parallel is
  'How many elements may be queued or running at once; null: all.';
comment on column qwf.graph_nodes.min_success is
  'How many elements must complete, as a number or a percentage such as 90%; null: all.';
comment on column qwf.graph_nodes.stop_when_reached is
  'True: the map is done when min_success elements have completed, and the others stop.';
comment on column qwf.graph_nodes.repeat is
  'until (with absolute references), max, every: the elements of its map are turns, one after the '
  'other. Null: it does not repeat.';
comment on column qwf.graph_nodes.delay is
  'Durations and times, with absolute references: it opens so long after its dependencies. Null: '
  'at once.';
comment on column qwf.graph_nodes.at_most_once is
  'True: nothing tries its body a second time by itself; null: an ordinary node.';
comment on column qwf.graph_nodes.options is 'Tries and times of its own; null as a rule.';

create table qwf.graph_edges (
  graph_id bigint not null references qwf.graphs on delete cascade,
  from_idx int not null,
  to_idx int not null check (to_idx > from_idx),
  primary key (graph_id, from_idx, to_idx)
);

create index graph_edges_to on qwf.graph_edges (graph_id, to_idx);
comment on table qwf.graph_edges is 'to_idx depends on from_idx.';
comment on column qwf.graph_edges.graph_id is 'Graph it belongs to.';
comment on column qwf.graph_edges.from_idx is 'Node that to_idx waits for.';
comment on column qwf.graph_edges.to_idx is 'Node that waits.';

-- Versions of definitions, their graphs, and the definitions that runs execute.

-- The versions of workflows and pipelines that are registered. One row a version. A filter on
-- kind reads one of the two tables.
create view qwf.definition_overview as
select
  'workflow' as kind, w.name, w.version, w.current,
  left(w.definition ->> 'display_name', 200) as title,
  case when jsonb_typeof(w.definition -> 'steps') = 'array'
    then jsonb_array_length(w.definition -> 'steps') else 0 end as parts,
  w.pipeline_names as pipelines, w.registered_at, w.definition
from qwf.workflows w
union all
select
  'pipeline', p.name, p.version, p.current, left(p.definition ->> 'display_name', 200),
  case when jsonb_typeof(p.definition -> 'nodes') = 'array'
    then jsonb_array_length(p.definition -> 'nodes') else 0 end,
  '{}', p.registered_at, p.definition
from qwf.pipelines p;
comment on view qwf.definition_overview is
  'Versions of workflows and pipelines: select kind, name, version from qwf.definition_overview '
  'where current.';
comment on column qwf.definition_overview.kind is 'workflow or pipeline.';
comment on column qwf.definition_overview.name is 'Its name.';
comment on column qwf.definition_overview.version is '1, 2, 3 and so on for each name.';
comment on column qwf.definition_overview.current is
  'True for the version that new runs execute; one of each name.';
comment on column qwf.definition_overview.title is 'Its display_name, cut.';
comment on column qwf.definition_overview.parts is 'Steps of a workflow; nodes of a pipeline.';
comment on column qwf.definition_overview.pipelines is
  'Pipelines that the steps of a workflow run; empty for a pipeline.';
comment on column qwf.definition_overview.registered_at is 'When it was registered.';
comment on column qwf.definition_overview.definition is 'The definition.';

-- The graphs that are compiled, and for which versions. One row a graph. A graph never changes;
-- whether it is current may.
create view qwf.graph_overview as
select
  g.id, w.name as workflow, w.version, g.node_count as nodes, g.pipeline_ids = array(
    select p.id from qwf.pipelines p
    where p.name = any (w.pipeline_names) and p.current
    order by p.name collate "C") as current, g.created_at
from qwf.graphs g
join qwf.workflows w on w.id = g.workflow_id;
comment on view qwf.graph_overview is
  'Graphs that runs execute, as they were compiled: select qwf.workflow_graph(graph_id => id) from '
  'qwf.graph_overview where workflow = ''w'' and current order by version desc limit 1.';
comment on column qwf.graph_overview.id is 'Graph id; graph_id of runs and jobs.';
comment on column qwf.graph_overview.workflow is 'Workflow it was compiled from.';
comment on column qwf.graph_overview.version is 'Version of the workflow.';
comment on column qwf.graph_overview.nodes is 'Number of nodes.';
comment on column qwf.graph_overview.current is
  'True if a run of this version that begins now executes it, or one that is equal: it was '
  'compiled with the pipelines that are current.';
comment on column qwf.graph_overview.created_at is 'When it was compiled.';

-- The definitions that a run executes, beside those that are current. One row for the workflow
-- of a run, and one for each of its pipelines.
create view qwf.run_definitions as
select
  r.id as run_id, d.kind, d.name, d.version, c.version as current_version, d.definition,
  c.definition as current_definition
from qwf.runs r
join qwf.graphs g on g.id = r.graph_id
cross join lateral (
  select 'workflow' as kind, w.name, w.version, w.definition
  from qwf.workflows w where w.id = g.workflow_id
  union all
  select 'pipeline', p.name, p.version, p.definition
  from qwf.pipelines p where p.id = any (g.pipeline_ids)
) d
left join qwf.definition_overview c on c.kind = d.kind and c.name = d.name and c.current;
comment on view qwf.run_definitions is
  'The versions that runs execute, and the current ones: select kind, name, version, '
  'current_version from qwf.run_definitions where run_id = 7.';
comment on column qwf.run_definitions.run_id is 'Run id.';
comment on column qwf.run_definitions.kind is 'workflow or pipeline.';
comment on column qwf.run_definitions.name is 'Name of the workflow or pipeline.';
comment on column qwf.run_definitions.version is 'Version that the run executes.';
comment on column qwf.run_definitions.current_version is 'Version that a new run would execute.';
comment on column qwf.run_definitions.definition is 'Definition that the run executes.';
comment on column qwf.run_definitions.current_definition is
  'Definition that a new run would execute.';

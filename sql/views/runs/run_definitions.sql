-- Deploy qwf:views/runs/run_definitions
-- Purpose: The definitions that a run executes, beside those that are current.
-- Guarantees: One row for the workflow of a run, and one for each of its pipelines.
-- Called by: people, qwf web.

begin;

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

commit;

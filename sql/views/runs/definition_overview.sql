-- Deploy qwf:views/runs/definition_overview
-- Purpose: The versions of workflows and pipelines that are registered.
-- Guarantees: One row a version. A filter on kind reads one of the two tables.
-- Called by: people, qwf web.

begin;

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

commit;

-- Deploy qwf:schema/definitions
-- Versions of pipeline and workflow definitions, as registered. One version of each name is
-- current.

begin;

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

commit;

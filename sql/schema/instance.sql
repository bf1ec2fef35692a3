-- Deploy qwf:schema/instance
-- Which database this is, and which of its lives: one row. It is data, so a dump keeps it.

begin;

create table qwf.instance (
  single boolean primary key default true check (single),
  id uuid not null default gen_random_uuid(),
  generation int not null default 1 check (generation >= 1),
  began_at timestamptz not null default clock_timestamp()
);
insert into qwf.instance default values;

comment on table qwf.instance is
  'Which database this is, exactly one row. Agents mark their folders with it, so that no job gets '
  'the files of another database, or of jobs that a restored backup does not know.';
comment on column qwf.instance.single is 'Always true: there is one row.';
comment on column qwf.instance.id is
  'Drawn when the schema is deployed. A dump keeps it; begin_generation() gives a copy another.';
comment on column qwf.instance.generation is
  '1, and one more each time the database was restored from a backup; see begin_generation().';
comment on column qwf.instance.began_at is 'When the generation began.';

commit;

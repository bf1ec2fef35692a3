-- Deploy qwf:schema/qwf
-- The two schemas. Schema qwf is the API: functions, tables, views and the types that a caller
-- meets. Schema _qwf holds the private functions and types; no role has USAGE on it.

begin;

do $$
begin
  if getdatabaseencoding() <> 'UTF8' then  -- logs, errors and names may have any character
    raise exception using errcode = '0A000', message = 'qwf needs a database that is UTF8',
      detail = format('This one is %s.', getdatabaseencoding()),
      hint = 'create one, and deploy there: createdb --encoding UTF8 --template template0 NAME';
  end if;
end $$;

create schema qwf;
comment on schema qwf is
  'Workflow engine and job queue: definitions, runs, jobs, workers. Call functions, read views.';

create schema _qwf;
comment on schema _qwf is
  'Private functions and types of schema qwf. They may change in any release: call those of qwf.';

commit;

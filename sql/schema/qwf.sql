-- Deploy qwf:schema/qwf
-- The schema everything lives in. Nothing in it is for PUBLIC: every function is revoked
-- from PUBLIC where it is created, and granted to roles one by one.

begin;

create schema qwf;
comment on schema qwf is
  'Workflow engine and job queue: definitions, runs, jobs, workers. Call functions, read views.';

commit;

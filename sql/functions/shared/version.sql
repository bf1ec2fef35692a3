-- Deploy qwf:functions/shared/version
-- Purpose: Returns the version of the SQL API, which agents check before they start.
-- Guarantees: Semantic versioning: an agent works with every schema of its own major version;
--   before 1.0 the minor version must match too.

begin;

create function qwf.version() returns text
language sql immutable
as $$select '0.1.0'::text$$;
comment on function qwf.version is 'Returns the version of the SQL API, major.minor.patch.';
call _qwf.allow('qwf.version', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;

-- Verify qwf:schema/definitions

begin;

select id, name, version, definition, digest, current, registered_at from qwf.pipelines where false;
select id, name, version, definition, pipeline_names, digest, current, registered_at from qwf.workflows where false;

rollback;

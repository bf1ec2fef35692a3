-- Revert qwf:schema/definitions

begin;

drop table qwf.workflows;
drop table qwf.pipelines;

commit;

-- Revert qwf:schema/runs

begin;

drop table qwf.runs;

commit;

-- Revert qwf:schema/instance

begin;

drop table qwf.instance;

commit;

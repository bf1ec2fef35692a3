-- Revert qwf:schema/qwf

begin;

drop schema qwf;

commit;

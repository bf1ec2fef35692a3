-- Revert qwf:schema/qwf

begin;

drop schema _qwf;
drop schema qwf;

commit;

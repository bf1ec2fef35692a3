-- Revert qwf:schema/private_tables

begin;

drop table _qwf.secret;
drop table _qwf.locks;

commit;

-- Revert qwf:views/switched_off

begin;

drop view qwf.switched_off;

commit;

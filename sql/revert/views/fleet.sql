-- Revert qwf:views/fleet

begin;

drop view qwf.fleet;

commit;

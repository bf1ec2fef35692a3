-- Revert qwf:views/servers

begin;

drop view qwf.servers;

commit;

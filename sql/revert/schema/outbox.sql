-- Revert qwf:schema/outbox

begin;

drop table qwf.outbox;

commit;

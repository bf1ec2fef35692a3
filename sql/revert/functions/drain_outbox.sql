-- Revert qwf:functions/drain_outbox

begin;

drop function qwf.drain_outbox(int);

commit;

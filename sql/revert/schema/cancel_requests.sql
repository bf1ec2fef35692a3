-- Revert qwf:schema/cancel_requests

begin;

drop table qwf.cancel_requests;

commit;

-- Revert qwf:functions/_settle_cancel_requests

begin;

drop function qwf._settle_cancel_requests();

commit;

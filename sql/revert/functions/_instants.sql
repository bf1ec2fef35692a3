-- Revert qwf:functions/_instants

begin;

drop function qwf._instants(timestamp, text);

commit;

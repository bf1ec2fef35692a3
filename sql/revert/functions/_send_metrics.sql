-- Revert qwf:functions/_send_metrics

begin;

drop function qwf._send_metrics();

commit;

-- Revert qwf:functions/_retire

begin;

drop function qwf._retire(qwf.held[], timestamptz, qwf.settings);

commit;

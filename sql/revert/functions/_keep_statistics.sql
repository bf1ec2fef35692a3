-- Revert qwf:functions/_keep_statistics

begin;

drop function qwf._keep_statistics();

commit;

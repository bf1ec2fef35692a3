-- Revert qwf:functions/_count_failed_drain

begin;

drop function qwf._count_failed_drain(bigint, text, text);

commit;

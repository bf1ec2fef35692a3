-- Revert qwf:functions/_check_limits

begin;

drop function qwf._check_limits(bigint);

commit;

-- Revert qwf:functions/why_not

begin;

drop function qwf.why_not(bigint);

commit;

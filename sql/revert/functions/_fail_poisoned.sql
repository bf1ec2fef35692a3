-- Revert qwf:functions/_fail_poisoned

begin;

drop function qwf._fail_poisoned(bigint, text);

commit;

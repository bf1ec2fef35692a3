-- Revert qwf:functions/_open_dependants

begin;

drop function qwf._open_dependants(bigint[]);

commit;

-- Revert qwf:functions/_open_guarded

begin;

drop function qwf._open_guarded(bigint[]);

commit;

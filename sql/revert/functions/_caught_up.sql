-- Revert qwf:functions/_caught_up

begin;

drop function qwf._caught_up(interval);

commit;

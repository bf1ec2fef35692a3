-- Revert qwf:functions/_forget_sleepers

begin;

drop function qwf._forget_sleepers();

commit;

-- Revert qwf:functions/reclaim

begin;

drop function qwf.reclaim(int);

commit;

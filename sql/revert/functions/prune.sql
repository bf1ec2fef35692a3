-- Revert qwf:functions/prune

begin;

drop function qwf.prune(int);

commit;

-- Revert qwf:functions/promote_due

begin;

drop function qwf.promote_due(int);

commit;

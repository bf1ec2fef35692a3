-- Revert qwf:functions/tick

begin;

drop function qwf.tick(interval);

commit;

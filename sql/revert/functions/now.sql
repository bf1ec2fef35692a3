-- Revert qwf:functions/now

begin;

drop function qwf.now();

commit;

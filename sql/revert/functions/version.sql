-- Revert qwf:functions/version

begin;

drop function qwf.version();

commit;

-- Revert qwf:functions/drop_limit

begin;

drop function qwf.drop_limit(text);

commit;

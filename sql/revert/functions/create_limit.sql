-- Revert qwf:functions/create_limit

begin;

drop function qwf.create_limit(text, int);

commit;

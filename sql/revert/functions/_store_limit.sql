-- Revert qwf:functions/_store_limit

begin;

drop function qwf._store_limit(text, int);

commit;

-- Revert qwf:functions/_check_limit

begin;

drop function qwf._check_limit(text, text);

commit;

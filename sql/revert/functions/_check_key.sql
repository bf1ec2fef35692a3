-- Revert qwf:functions/_check_key

begin;

drop function qwf._check_key(text, text, text);

commit;

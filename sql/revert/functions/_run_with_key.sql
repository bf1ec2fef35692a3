-- Revert qwf:functions/_run_with_key

begin;

drop function qwf._run_with_key(text, text, text);

commit;

-- Revert qwf:functions/submit_input

begin;

drop function qwf.submit_input(bigint, text, jsonb, text);

commit;

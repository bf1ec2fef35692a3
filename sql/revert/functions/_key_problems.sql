-- Revert qwf:functions/_key_problems

begin;

drop function qwf._key_problems(jsonb, jsonb, text[], text);

commit;

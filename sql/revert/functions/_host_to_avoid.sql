-- Revert qwf:functions/_host_to_avoid

begin;

drop function qwf._host_to_avoid(text, text, jsonb);

commit;

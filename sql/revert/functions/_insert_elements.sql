-- Revert qwf:functions/_insert_elements

begin;

drop function qwf._insert_elements(bigint, jsonb, jsonb);

commit;

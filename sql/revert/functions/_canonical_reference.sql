-- Revert qwf:functions/_canonical_reference

begin;

drop function qwf._canonical_reference(jsonb, jsonb);

commit;

-- Revert qwf:functions/_with_defaults

begin;

drop function qwf._with_defaults(jsonb, jsonb);

commit;

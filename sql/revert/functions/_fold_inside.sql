-- Revert qwf:functions/_fold_inside

begin;

drop function qwf._fold_inside(jsonb, jsonb);

commit;

-- Revert qwf:functions/_fold_path

begin;

drop function qwf._fold_path(jsonb, jsonb);

commit;

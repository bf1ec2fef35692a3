-- Revert qwf:functions/_malformed_path

begin;

drop function qwf._malformed_path(jsonb);

commit;

-- Revert qwf:functions/_malformed_filter

begin;

drop function qwf._malformed_filter(jsonb);

commit;

-- Revert qwf:functions/_malformed

begin;

drop function qwf._malformed(jsonb);

commit;

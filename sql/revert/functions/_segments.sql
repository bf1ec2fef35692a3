-- Revert qwf:functions/_segments

begin;

drop function qwf._segments(jsonb);

commit;

-- Revert qwf:functions/_why_full

begin;

drop function qwf._why_full(text);

commit;

-- Revert qwf:functions/_tick_part

begin;

drop function qwf._tick_part(text);

commit;

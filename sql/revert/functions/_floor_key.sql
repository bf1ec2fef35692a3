-- Revert qwf:functions/_floor_key

begin;

drop function qwf._floor_key(text, text);

commit;

-- Revert qwf:functions/_nearest

begin;

drop function qwf._nearest(text, text[]);

commit;

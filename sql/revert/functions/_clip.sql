-- Revert qwf:functions/_clip

begin;

drop function qwf._clip(text, int);

commit;

-- Revert qwf:functions/_refuse_not_yet

begin;

drop function qwf._refuse_not_yet(text, text, interval, text);

commit;

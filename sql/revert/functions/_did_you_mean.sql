-- Revert qwf:functions/_did_you_mean

begin;

drop function qwf._did_you_mean(text, text[]);

commit;

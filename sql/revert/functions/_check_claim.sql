-- Revert qwf:functions/_check_claim

begin;

drop function qwf._check_claim(text, int, interval);

commit;

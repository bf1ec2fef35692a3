-- Revert qwf:functions/_interval

begin;

drop function qwf._interval(jsonb);

commit;

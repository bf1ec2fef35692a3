-- Revert qwf:functions/_stamp

begin;

drop function qwf._stamp(bigint[], text, timestamptz, timestamptz, interval);

commit;

-- Revert qwf:functions/_stamp

begin;

drop function qwf._stamp(qwf.picked[], text, timestamptz, timestamptz, interval);

commit;

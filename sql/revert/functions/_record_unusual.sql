-- Revert qwf:functions/_record_unusual

begin;

drop function qwf._record_unusual(qwf.ended[], timestamptz);

commit;

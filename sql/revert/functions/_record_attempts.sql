-- Revert qwf:functions/_record_attempts

begin;

drop function qwf._record_attempts(qwf.ended[], timestamptz, qwf.settings);

commit;

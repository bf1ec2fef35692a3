-- Verify qwf:functions/_record_unusual

begin;

select 'qwf._record_unusual(qwf.ended[], timestamptz)'::regprocedure;

rollback;

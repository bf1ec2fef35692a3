-- Verify qwf:functions/_enqueue_scheduled

begin;

select 'qwf._enqueue_scheduled(qwf.schedules, timestamptz)'::regprocedure;

rollback;

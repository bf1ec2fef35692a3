-- Verify qwf:functions/_announce_trouble

begin;

select 'qwf._announce_trouble(qwf.jobs)'::regprocedure;

rollback;

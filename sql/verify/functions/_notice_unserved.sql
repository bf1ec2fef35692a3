-- Verify qwf:functions/_notice_unserved

begin;

select 'qwf._notice_unserved(text)'::regprocedure;

rollback;

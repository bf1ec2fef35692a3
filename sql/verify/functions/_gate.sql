-- Verify qwf:functions/_gate

begin;

select 'qwf._gate(text)'::regprocedure;

rollback;

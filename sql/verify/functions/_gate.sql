-- Verify qwf:functions/_gate

begin;

select 'qwf._gate(text, boolean)'::regprocedure;

rollback;

-- Verify qwf:functions/echo

begin;

select 'qwf.echo(text)'::regprocedure;

rollback;

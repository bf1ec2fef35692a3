-- Revert qwf:functions/echo

begin;

drop function qwf.echo(text);

commit;

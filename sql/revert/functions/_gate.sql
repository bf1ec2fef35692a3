-- Revert qwf:functions/_gate

begin;

drop function qwf._gate(text, boolean);

commit;

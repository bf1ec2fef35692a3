-- Revert qwf:triggers/tg_settings__update

begin;

drop trigger tg_settings__update on qwf.settings;
drop function qwf.tg_settings__update();

commit;

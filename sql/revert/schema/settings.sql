-- Revert qwf:schema/settings

begin;

drop table qwf.settings;

commit;

-- Revert qwf:views/setting_overview

begin;

drop view qwf.setting_overview;

commit;

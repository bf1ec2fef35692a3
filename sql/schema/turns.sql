-- Deploy qwf:schema/turns
-- Where the turns of keys are, kept in sequences: every session can read and write a sequence
-- without a row, a lock or a transaction. See _turn_owner.

begin;

create sequence _qwf.turn_owner_0 minvalue 0 start 0;
create sequence _qwf.turn_place_0 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_1 minvalue 0 start 0;
create sequence _qwf.turn_place_1 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_2 minvalue 0 start 0;
create sequence _qwf.turn_place_2 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_3 minvalue 0 start 0;
create sequence _qwf.turn_place_3 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_4 minvalue 0 start 0;
create sequence _qwf.turn_place_4 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_5 minvalue 0 start 0;
create sequence _qwf.turn_place_5 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_6 minvalue 0 start 0;
create sequence _qwf.turn_place_6 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_7 minvalue 0 start 0;
create sequence _qwf.turn_place_7 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_8 minvalue 0 start 0;
create sequence _qwf.turn_place_8 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_9 minvalue 0 start 0;
create sequence _qwf.turn_place_9 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_10 minvalue 0 start 0;
create sequence _qwf.turn_place_10 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_11 minvalue 0 start 0;
create sequence _qwf.turn_place_11 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_12 minvalue 0 start 0;
create sequence _qwf.turn_place_12 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_13 minvalue 0 start 0;
create sequence _qwf.turn_place_13 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_14 minvalue 0 start 0;
create sequence _qwf.turn_place_14 minvalue -9223372036854775808 start 0;
create sequence _qwf.turn_owner_15 minvalue 0 start 0;
create sequence _qwf.turn_place_15 minvalue -9223372036854775808 start 0;
comment on sequence _qwf.turn_owner_0 is
  'Whose turns turn_place_0 keeps, and when it was last asked for: 31 bits of a hash, then the '
  'minute since 1970. The other numbers are the same for others.';
comment on sequence _qwf.turn_place_0 is
  'Place of the key that was served last in the line of a queue; only a hint.';

commit;

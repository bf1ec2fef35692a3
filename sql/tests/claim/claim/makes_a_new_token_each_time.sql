-- 2 tests
select qwf.enqueue('mail');
create temp table tokens as select token from qwf.claim('default', 'w');
select qwf_test.report('mail', 'released');
insert into tokens select token from qwf.claim('default', 'w');
select is((select count(distinct token) from tokens), 2::bigint,
  'a token of an earlier claim never fits a later one');
select is((select attempt from qwf.jobs where id = qwf_test.job('mail')), 2,
  'attempt counts claims');

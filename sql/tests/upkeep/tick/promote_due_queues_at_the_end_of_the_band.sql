select qwf.enqueue('later', run_at => qwf.now() + '1 min');
select qwf.enqueue('waiting');
select qwf_test.travel('1 h');
select _qwf.promote_due();
select is(qwf_test.claim('default', 2), 'claimed waiting, later', 'it waits its turn from now');

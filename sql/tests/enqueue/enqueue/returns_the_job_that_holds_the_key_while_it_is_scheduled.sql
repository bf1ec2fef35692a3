create temp table made as select qwf.enqueue('mail', key => 'k', run_at => qwf.now() + '1 h') as id;
select results_eq($$ select qwf.enqueue('mail', key => 'k') $$, 'select id from made',
  'its time has not come');

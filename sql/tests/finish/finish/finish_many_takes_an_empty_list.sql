select is_empty($$ select * from qwf.finish_many('[]') $$, 'nothing to report');

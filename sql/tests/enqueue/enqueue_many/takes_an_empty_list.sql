select is_empty($$ select qwf.enqueue_many('[]') $$, 'nothing to do');

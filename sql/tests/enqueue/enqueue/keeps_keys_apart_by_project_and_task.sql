select is((
  select count(distinct id)
  from unnest(array[
    qwf.enqueue('mail', key => 'k'), qwf.enqueue('mail', key => 'l'),
      qwf.enqueue('post', key => 'k'),
    qwf.enqueue('mail', key => 'k', project => 'p'), qwf.enqueue('mail'), qwf.enqueue('mail')]) id),
      6::bigint,
  'and jobs without a key from all');

begin;
select plan(4);

select is(_qwf.bucket(0), 0, 'below a millisecond');
select is(_qwf.bucket(0.00101), 1, 'from a millisecond');
select is_empty($$
  select n from generate_series(1, 126) n
  where _qwf.bucket((0.001 * 1.2 ^ (n - 0.99))::real) <> n
    or _qwf.bucket((0.001 * 1.2 ^ (n - 0.01))::real) <> n
$$, 'up to 110 days');
select is(_qwf.bucket('infinity'), 127, 'and all above');

select * from finish();
rollback;

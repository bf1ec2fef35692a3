-- psql -v email=ada@example.org -f enqueue.sql
begin;
insert into orders (email) values (:'email') returning id as order_id \gset
select qwf.enqueue('receipt', jsonb_build_object('order', :order_id), queue => 'cpu', key => 'order ' || :order_id);
select qwf.enqueue_run('greet', jsonb_build_object('who', :'email'));
commit;

-- Revert shop:orders

begin;

drop table orders;
drop function enqueue_receipt();

commit;

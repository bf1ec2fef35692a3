-- Verify shop:orders

begin;

select id, email from orders where false;

rollback;

-- Revert qwf:functions/worker_orders

begin;

drop function qwf.worker_orders(text);

commit;

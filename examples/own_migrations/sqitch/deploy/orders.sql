-- Deploy shop:orders

begin;

create table orders (id bigint generated always as identity primary key, email text not null);

create function enqueue_receipt() returns trigger
language plpgsql
as $$
begin
  perform qwf.enqueue('receipt', jsonb_build_object('order', new.id));
  return new;
end $$;

create trigger receipt after insert on orders for each row execute function enqueue_receipt();

commit;

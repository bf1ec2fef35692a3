"""Takes an order and enqueues its receipt: both, or neither."""

from django.db import connection, transaction

from qwf_agent import App
from shop.models import Order

app = App()


@app.task("receipt")
def receipt(order: int) -> None:
    print(f"the receipt of order {order}")


def take_order(email: str) -> int:
    """Store an order; returns the id of the job that sends its receipt."""
    with transaction.atomic():
        order = Order.objects.create(email=email)
        return receipt.enqueue(connection, order=order.id)

"""The tables of the shop."""

from django.db import models


class Order(models.Model):
    """An order."""

    id = models.BigAutoField(primary_key=True)
    email = models.TextField()

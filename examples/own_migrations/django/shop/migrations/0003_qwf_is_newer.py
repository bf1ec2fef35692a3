"""A newer version of qwf is installed: its schema."""

from django.db import migrations

from shop import qwf_schema


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_orders")]
    operations = [qwf_schema.NEWER]

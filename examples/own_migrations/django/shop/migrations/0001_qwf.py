"""The schema of qwf."""

from django.db import migrations

from shop import qwf_schema


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [qwf_schema.FIRST]

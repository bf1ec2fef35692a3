"""The schema of qwf 0.1.0."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).parents[2] / "qwf.sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    # A list, because Django splits a single text into statements.
    operations = [migrations.RunSQL([SCHEMA.read_text()])]

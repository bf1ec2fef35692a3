"""The orders."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_qwf")]
    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("email", models.TextField()),
            ],
        )
    ]

"""An app with one task. sign_up.py enqueues it in its own transaction."""

from qwf_agent import App

app = App()


@app.task("send_email", max_attempts=3, timeout=30)
def send_email(to: str, subject: str) -> dict[str, str]:
    print(f"to {to}: {subject}")
    return {"sent_to": to}

"""An app with one task, for the agent in the container."""

from qwf_agent import App

app = App()


@app.task("send_email", max_attempts=3, timeout=30)
def send_email(to: str, subject: str) -> dict[str, str]:
    print(f"to {to}: {subject}")
    return {"sent_to": to}

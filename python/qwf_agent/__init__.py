"""qwf: workflows and jobs on self-hosted machines. Postgres decides, this package runs the work."""

from qwf_agent.app import App, PermanentError, TemporaryError

__version__ = "0.1.0"
__all__ = ["App", "PermanentError", "TemporaryError", "__version__"]

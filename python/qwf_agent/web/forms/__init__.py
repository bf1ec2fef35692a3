"""Forms for what a person enters: questions, starts of runs, pasted definitions."""

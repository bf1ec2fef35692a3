"""Model servers that an agent runs or uses: their configuration, their processes, their states."""

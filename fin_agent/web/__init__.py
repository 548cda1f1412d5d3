"""The workspace in the browser: its pages and scripts (`static/`), and the routes that they call."""

"""The workspace in the browser: pages and scripts as they are shipped (`static/`), and what they ask of the server."""

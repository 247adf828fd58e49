"""All output to the terminal: console, live view, transcript, batch view."""

"""Everything that prints: console, live view, transcript, batch view."""

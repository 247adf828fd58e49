"""Facts on a failing candidate for a repair: what one call does, line by line. Nothing here decides."""

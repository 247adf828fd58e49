"""Documents, and the scripts that make and measure what they say."""

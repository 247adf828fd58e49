"""How strong a suite is: what of the code it runs, and which changes of the code it notices."""

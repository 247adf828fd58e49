"""CodeWriter, TestWriter, Critic: records to a prompt, a reply to records."""

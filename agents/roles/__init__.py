"""CodeWriter, TestWriter, Critic, Healer: records to a prompt, a reply to records."""

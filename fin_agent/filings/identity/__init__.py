"""Who, what and when: the identity of a filing, from its content."""

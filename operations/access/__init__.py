"""Who may use this workspace's web: the operator account, sign-in links, tokens, and the guards of every request."""

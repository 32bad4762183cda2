"""Resolution: from what a manifest declares and compiled to identities of datasets and jobs."""

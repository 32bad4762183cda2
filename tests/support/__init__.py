"""Parts that tests share: builders of manifests, and ways to run the command line."""

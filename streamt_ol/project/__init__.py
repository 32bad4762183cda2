"""A streamt project read without streamt: YAML, variables, macros, inferred artifacts."""

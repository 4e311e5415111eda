"""Task definitions of lm-evaluation-harness (lm-eval): from its YAML files to rows and a lock."""

"""The experiments, one module per published table or figure."""

"""One module per published table or figure."""

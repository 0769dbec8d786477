"""One module per published table or figure; `published` holds the printed numbers, in files named by their table."""

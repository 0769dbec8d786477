"""The panels of the page, one module each: they show what is told and report what is touched."""

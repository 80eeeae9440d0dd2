"""The console: pages for the browser over the same service as every other door. Nothing of it runs inline."""

"""The PostgreSQL door: version 3 of its protocol, so that every client of it can ask."""

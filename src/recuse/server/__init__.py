"""`recuse serve`: analysts ask without the data. Nothing of it is imported unless it is asked for."""

"""Sessions: a database or a graph with its ledger, of which questions are asked.

session, graph    what people open, and ask
question          what was asked; `sql_question` and `graph_question` make it
spine             charge ─ read private rows ─ release ─ store ─ stamp, once for both
answer, show      what is answered, and how it is shown
"""

"""NOT PRIVATE: other mechanisms and experiments, for researchers, on data that they may see.

Nothing outside of this folder imports it; `recuse lab` loads it when it is asked for.
"""

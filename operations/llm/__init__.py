"""The spend authority and the one way to a model: every provider attempt is admitted, recorded and counted here.

``ask_model`` (``gateway.py``) is what apps call. ``authority.py`` decides whether an attempt may go out, ``ledger.py``
counts what it used, ``breaker.py`` keeps a provider that refuses us from burning attempts.
"""

"""The event stream: ``/v1/events/stream`` is the raw contract, ``/live/`` tells pages what to refetch.

One tailer per web process watches the database, reads new rows once, and feeds every listener.

What of django-eventstream is used: its listener manager (a thread-safe fan-out with a bounded queue per listener and
an overflow flag), and its two settings: a storage class (ours reads ``job_events``, so replay needs no second copy)
and a channel manager (ours decides who may listen). Its views are not exposed and its app is not installed: its ids,
keep-alives and resume differ from our contract, each of its streams holds a database connection for life and reads
the log itself, and its two tables would stay empty.
"""

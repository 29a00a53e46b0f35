"""The web process's entry point: static files, the size of the body, the pace of the client, then Django. HTTP only."""

import gc
import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")

django_application = get_asgi_application()

from operations.access.bodies import LimitBody, refuse_websocket  # noqa: E402 - needs the apps loaded
from operations.access.static_files import serve_static  # noqa: E402
from operations.streaming.backpressure import WaitForClient  # noqa: E402
from operations.streaming.ending import end_tasks_at_exit  # noqa: E402

end_tasks_at_exit()

application = ProtocolTypeRouter(
    {
        "http": serve_static(LimitBody(WaitForClient(django_application))),
        "websocket": refuse_websocket,
    }
)

# All that stays: the pages' modules too. A whole pass of the collector over it takes longer than a page does.
get_resolver().url_patterns  # noqa: B018 - reading it imports them
gc.collect()
gc.freeze()

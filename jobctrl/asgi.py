"""The web process's entry point: static files, the size of the body, the pace of the client, then Django. HTTP only."""

import gc
import os
from contextlib import suppress

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")

django_application = get_asgi_application()

from operations.access.bodies import LimitBody, refuse_websocket  # noqa: E402 - needs the apps loaded
from operations.access.static_files import serve_static  # noqa: E402
from operations.processes.presence import WEB, mark_presence  # noqa: E402
from operations.streaming.backpressure import WaitForClient  # noqa: E402
from operations.streaming.ending import end_tasks_at_exit  # noqa: E402

end_tasks_at_exit()
with suppress(OSError):  # without it ``up`` takes this process for a stranger; every page says what is wrong here
    mark_presence(settings.JOBCTRL_HOME.root, WEB)

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

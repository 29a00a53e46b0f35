"""``python -m tests.operations.asking_child``: for each line on standard input a forked child asks a model once.

A fork is ready at once, where a process of its own would import the providers' clients for seconds before each kill.
"""

import os
import sys

import django


def main() -> None:
    django.setup()
    from operations.llm.providers import trusted_authorities
    from tests.operations.asking import ask

    trusted_authorities()
    warm_up()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            ask(line.strip())
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "done", flush=True)


def warm_up() -> None:
    """Imports alone: no connection, no thread and no loop may be carried over a fork."""
    import genai_prices.data_snapshot
    import httpx2  # noqa: F401
    from pydantic_ai import Agent, PromptedOutput, ToolOutput  # noqa: F401
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: F401

    import operations.llm.transport  # noqa: F401

    genai_prices.data_snapshot.get_snapshot()


if __name__ == "__main__":
    main()

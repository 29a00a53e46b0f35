"""Where the gateway does not go. Every refusal is proved by a server that nobody connected to."""

import socket
from collections.abc import Iterator, Sequence

import pytest
from pytest_django import Settings

from discovery.gateway import Network, NetworkFailure, UnsafeCause, UnsafeDestination, check_destination, fetch
from discovery.gateway.addresses import is_public_address
from discovery.gateway.connection import dial_address
from discovery.gateway.watch import Watch
from tests.boardserver import BoardServer, reply_json, reply_redirect

PUBLIC = "93.184.215.14"


class Internet:
    """A resolver with scripted answers, and public addresses that all lead to the loopback board."""

    def __init__(self, board: BoardServer) -> None:
        self.board = board
        self.answers: dict[str, list[Sequence[str]]] = {}
        self.resolved: list[str] = []
        self.dialled: list[tuple[str, int]] = []

    def name(self, host: str, *answers: Sequence[str]) -> None:
        self.answers[host] = list(answers)

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.resolved.append(host)
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def dial(self, address: str, port: int, watch: Watch) -> socket.socket:
        self.dialled.append((address, port))
        return dial_address("127.0.0.1", self.board.port, watch)

    @property
    def network(self) -> Network:
        return Network(resolve=self.resolve, dial=self.dial)


@pytest.fixture
def board() -> Iterator[BoardServer]:
    with BoardServer() as server:
        server.set_route("/jobs", reply_json({"jobs": []}))
        yield server


@pytest.fixture
def internet(board: BoardServer) -> Internet:
    internet = Internet(board)
    internet.name("boards.example.com", [PUBLIC])
    return internet


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.0.1", "169.254.169.254",
        "172.16.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:100.100.100.200", "::127.0.0.1",
        "64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1",
        "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1",
        "5f00::1", "no address", "",
    ],
)  # fmt: skip
def test_it_takes_no_special_address_for_public(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "192.0.1.1"],
)
def test_it_takes_public_addresses_for_public(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "localhost", "LOCALHOST.", "jobs.localhost",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "100.100.100.200", "①②⑦.0.0.1",
    ],
)  # fmt: skip
def test_it_refuses_private_literals_without_asking_the_resolver(host: str, internet: Internet) -> None:
    with pytest.raises(UnsafeDestination) as refusal:
        fetch(f"http://{host}/jobs", network=internet.network)

    assert refusal.value.cause is UnsafeCause.PRIVATE_LITERAL
    assert refusal.value.code == "DETAIL_UNSAFE_URL"
    assert not refusal.value.retryable
    assert not internet.resolved
    assert not internet.dialled


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("ftp://boards.example.com/jobs", UnsafeCause.SCHEME),
        ("file:///etc/passwd", UnsafeCause.SCHEME),
        ("javascript:alert(1)", UnsafeCause.SCHEME),
        ("//boards.example.com/jobs", UnsafeCause.SCHEME),
        ("http://boards.example.com@127.0.0.1/", UnsafeCause.USERINFO),
        ("http://me:secret@boards.example.com/", UnsafeCause.USERINFO),
        ("http://@boards.example.com/", UnsafeCause.USERINFO),
        ("http:///jobs", UnsafeCause.HOST),
        ("http://boards.example.com\\@127.0.0.1/", UnsafeCause.HOST),
        ("http://boards.exa\nmple.com/", UnsafeCause.HOST),
        ("http://[::1%25lo]/", UnsafeCause.HOST),
        ("http://[nonsense]/", UnsafeCause.HOST),
        ("http://a..b/", UnsafeCause.HOST),
        ("http://a b/", UnsafeCause.HOST),
        ("http://boards.example.com:99999/", UnsafeCause.PORT),
        ("http://boards.example.com:22/", UnsafeCause.PORT),
        ("http://boards.example.com:6379/", UnsafeCause.PORT),
        ("https://boards.example.com/" + "a" * 5000, UnsafeCause.HOST),
    ],
)
def test_it_refuses_what_is_no_plain_web_address(url: str, cause: UnsafeCause, internet: Internet) -> None:
    with pytest.raises(UnsafeDestination) as refusal:
        fetch(url, network=internet.network)

    assert refusal.value.cause is cause
    assert "secret" not in str(refusal.value)
    assert internet.dialled == []


@pytest.mark.parametrize(
    "answer",
    [["10.0.0.5"], ["100.100.100.200"], ["::ffff:169.254.169.254"], [PUBLIC, "192.168.1.1"], ["fe80::1%2", PUBLIC]],
)
def test_it_refuses_a_name_when_any_answer_is_private(
    answer: list[str], internet: Internet, board: BoardServer
) -> None:
    internet.name("jobs.example.net", answer)

    with pytest.raises(UnsafeDestination) as refusal:
        fetch("http://jobs.example.net/jobs?token=hush", network=internet.network)

    assert refusal.value.cause is UnsafeCause.DNS_NON_PUBLIC
    assert "jobs.example.net" in str(refusal.value)
    assert "hush" not in str(refusal.value)
    assert internet.dialled == []
    assert board.connections == 0


def test_it_connects_to_the_checked_address_when_the_name_is_rebound(internet: Internet, board: BoardServer) -> None:
    internet.name("rebind.example.com", [PUBLIC], ["127.0.0.1"])

    response = fetch("http://rebind.example.com/jobs", network=internet.network)

    assert response.status == 200
    assert internet.resolved == ["rebind.example.com"]
    assert internet.dialled == [(PUBLIC, 80)]
    assert board.requests[0].headers["host"] == "rebind.example.com"


def test_it_checks_a_rebound_name_again_on_the_next_hop(internet: Internet, board: BoardServer) -> None:
    internet.name("rebind.example.com", [PUBLIC], ["127.0.0.1"])
    board.set_route("/again", reply_redirect("/jobs"))

    with pytest.raises(UnsafeDestination) as refusal:
        fetch("http://rebind.example.com/again", network=internet.network)

    assert refusal.value.cause is UnsafeCause.REDIRECT_NON_PUBLIC
    assert board.count_requests("/jobs") == 0


@pytest.mark.parametrize(
    ("location", "cause"),
    [
        ("http://127.0.0.1/", UnsafeCause.REDIRECT_NON_PUBLIC),
        ("http://[::ffff:169.254.169.254]/latest/meta-data/", UnsafeCause.REDIRECT_NON_PUBLIC),
        ("//localhost/jobs", UnsafeCause.REDIRECT_NON_PUBLIC),
        ("http://intranet.example.com/jobs", UnsafeCause.REDIRECT_NON_PUBLIC),
        ("file:///etc/passwd", UnsafeCause.SCHEME),
        ("http://boards.example.com:25/", UnsafeCause.PORT),
        ("http://x@boards.example.com/jobs", UnsafeCause.USERINFO),
    ],
)
def test_it_refuses_a_redirect_for_good(
    location: str, cause: UnsafeCause, internet: Internet, board: BoardServer
) -> None:
    internet.name("intranet.example.com", ["10.0.0.9"])
    board.set_route("/moved", reply_redirect(location))

    with pytest.raises(UnsafeDestination) as refusal:
        fetch("http://boards.example.com/moved", network=internet.network)

    assert (refusal.value.cause, refusal.value.hop, refusal.value.retryable) == (cause, 1, False)
    assert internet.dialled == [(PUBLIC, 80)]
    assert board.connections == 1


def test_it_follows_public_redirects_and_reports_where_they_ended(internet: Internet, board: BoardServer) -> None:
    internet.name("careers.example.org", ["2606:4700::1111"])
    board.set_route("/old", reply_redirect("http://careers.example.org/a b?q=ü#top", status=308))
    board.set_route("/a%20b", reply_json([1]))

    response = fetch("http://boards.example.com/old", network=internet.network)

    assert response.url == "http://careers.example.org/a%20b?q=%C3%BC"
    assert response.body == b"[1]"
    assert internet.dialled == [(PUBLIC, 80), ("2606:4700::1111", 80)]


def test_it_reaches_a_private_host_only_by_the_exact_exception(board: BoardServer, settings: Settings) -> None:
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [f"127.0.0.1:{board.port + 1}", f"localhost:{board.port}", "127.0.0.1"]
    with pytest.raises(UnsafeDestination):
        fetch(f"{board.url}/jobs")
    assert board.connections == 0

    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [board.host_port]
    assert fetch(f"{board.url}/jobs").status == 200


def test_it_grants_no_exception_to_a_strangers_redirect(
    internet: Internet, board: BoardServer, settings: Settings
) -> None:
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [board.host_port]
    board.set_route("/moved", reply_redirect(f"{board.url}/jobs"))

    with pytest.raises(UnsafeDestination):
        fetch("http://boards.example.com/moved", network=internet.network)

    assert board.count_requests("/jobs") == 0
    assert fetch(f"{board.url}/moved").status == 200


def test_it_ignores_proxies_of_the_environment(
    internet: Internet, board: BoardServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BoardServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)

        fetch("http://boards.example.com/jobs", network=internet.network)

        assert proxy.connections == 0
        assert board.count_requests("/jobs") == 1


def test_it_checks_a_destination_without_connecting(internet: Internet, board: BoardServer) -> None:
    internet.name("intranet.example.com", ["10.0.0.9"])

    check_destination("https://boards.example.com/jobs", network=internet.network)
    with pytest.raises(UnsafeDestination):
        check_destination("https://intranet.example.com/", network=internet.network)
    with pytest.raises(NetworkFailure) as failure:
        check_destination("https://unknown.example.com/", network=internet.network)

    assert failure.value.code == "DNS_FAILED"
    assert failure.value.retryable
    assert board.connections == 0

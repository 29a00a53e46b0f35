"""TLS at a pinned address: the certificate is checked for the name, not for the address."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from discovery.gateway import FetchCancelled, Network, NetworkFailure, UnsafeCause, UnsafeDestination, fetch
from discovery.gateway.connection import dial_address
from discovery.gateway.watch import Watch

pytest.importorskip("cryptography", reason="makes the test's certificate")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PUBLIC = "93.184.215.14"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for jobs.example.com, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jobs.example.com")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("jobs.example.com")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "jobs.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


@contextmanager
def serve_tls(certificate: Path, answer: bytes, names: list[str | None]) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda sock, name, ctx: names.append(name)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    secured.recv(65536)
                    secured.sendall(answer)
            except OSError:
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def lead_to(port: int, *, trusted: Path | None = None) -> Network:
    def dial(address: str, wanted: int, watch: Watch) -> socket.socket:
        assert (address, wanted) == (PUBLIC, 443)
        return dial_address("127.0.0.1", port, watch)

    tls = ssl.create_default_context(cafile=str(trusted)) if trusted else None
    return Network(resolve=lambda host, port: [PUBLIC], dial=dial, tls=tls)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


def test_it_verifies_the_certificate_for_the_name(certificate: Path) -> None:
    names: list[str | None] = []
    with serve_tls(certificate, OK, names) as port:
        assert fetch("https://jobs.example.com/", network=lead_to(port, trusted=certificate)).body == b"[]"
        with pytest.raises(NetworkFailure) as other_name:
            fetch("https://other.example.com/", network=lead_to(port, trusted=certificate))
        with pytest.raises(NetworkFailure) as not_trusted:
            fetch("https://jobs.example.com/", network=lead_to(port))

    assert names[:2] == ["jobs.example.com", "other.example.com"]
    assert other_name.value.code == not_trusted.value.code == "TLS_FAILED"


def test_it_refuses_a_redirect_that_gives_up_encryption(certificate: Path) -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://jobs.example.com/\r\nContent-Length: 0\r\n\r\n"
    with serve_tls(certificate, answer, []) as port, pytest.raises(UnsafeDestination) as refusal:
        fetch("https://jobs.example.com/", network=lead_to(port, trusted=certificate))

    assert refusal.value.cause is UnsafeCause.REDIRECT_DOWNGRADE


def test_it_can_be_cancelled_in_a_handshake_that_never_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        stop_at = time.monotonic() + 0.3
        with pytest.raises(FetchCancelled):
            fetch(
                "https://jobs.example.com/",
                cancelled=lambda: time.monotonic() > stop_at,
                network=lead_to(silent.getsockname()[1]),
            )
    assert time.monotonic() - stop_at < 1.0

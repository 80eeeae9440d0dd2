"""The PostgreSQL door under attack: broken messages, names that nobody has, TLS and what is bound to it."""

from __future__ import annotations

import datetime
import random
import socket
import struct
import time
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import pbkdf2_hmac, sha256

import numpy as np
import psycopg
import pytest

from recuse.ledger.scram import sign
from support.serving import COUNT, Serving, free_port, make_school, settings_of

MESSAGES = 10_000


class Raw:
    """A client that says what it is told to."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def send(self, letter: bytes, body: bytes) -> None:
        self.socket.sendall(letter + struct.pack(">i", len(body) + 4) + body)

    def receive(self) -> tuple[bytes, bytes]:
        head = self._exactly(5)
        return head[:1], self._exactly(struct.unpack(">i", head[1:])[0] - 4)

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def challenge(self, name: str) -> dict[str, str]:
        """Return what the server challenges a name with, after the first step of SCRAM."""
        self.send(b"", struct.pack(">i", 3 << 16) + f"user\0{name}\0database\0school\0\0".encode())
        assert self.receive()[0] == b"R"
        first = b"n,,n=,r=abc"
        self.send(b"p", b"SCRAM-SHA-256\0" + struct.pack(">i", len(first)) + first)
        _, body = self.receive()
        self.server = body[4:].decode()
        return {part[0]: part[2:] for part in self.server.split(",")}

    def signed_in(self, name: str, token: str) -> bytes:
        """Return the letter with which the server answers our proof."""
        said = self.challenge(name)
        key = pbkdf2_hmac("sha256", token.encode(), b64decode(said["s"]), int(said["i"]))
        client = sign(key, b"Client Key")
        bare = f"c=biws,r={said['r']}"
        signature = sign(sha256(client).digest(), f"n=,r=abc,{self.server},{bare}".encode())
        proof = b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True))).decode()
        self.send(b"p", f"{bare},p={proof}".encode())
        return self.receive()[0]

    def close(self) -> None:
        self.socket.close()


@pytest.fixture(scope="module")
def token(school):
    return school.token("raw")


def answers(school, token) -> bool:
    place = {"host": "127.0.0.1", "port": school.ports["postgres"], "user": "raw", "password": token}
    with psycopg.connect(**place, dbname="school", autocommit=True) as made:
        return made.execute("SELECT name FROM town ORDER BY name").fetchall() == [("Aa",), ("Bb",)]


def mutated(generator: random.Random) -> bytes:
    """Return a message that is broken somewhere, or not a message at all."""
    body = generator.choice(
        [
            COUNT.encode() + b"\0",
            b"s\0SELECT COUNT(*) FROM pupil WHERE age > $1\0\0\0",
            b"\0s\0\0\0\0\1\0\0\0\1" + b"8" + b"\0\0",
            b"Ss\0",
            b"P\0",
            b"\0\0\0\0\0",
            generator.randbytes(generator.randrange(40)),
        ]
    )
    raw = bytearray(body)
    for _ in range(generator.randrange(4)):
        if raw:
            raw[generator.randrange(len(raw))] = generator.randrange(256)
    letter = generator.choice([*(bytes([c]) for c in b"QPBDECSHdcfFp"), generator.randbytes(1)])
    length = len(raw) + 4 if generator.random() < 0.9 else generator.choice([-1, 0, 3, 2**31 - 1, len(raw)])
    return letter + struct.pack(">i", length) + bytes(raw)


def test_broken_messages_are_survived_and_cost_nothing(school, token):
    generator, sent, connections = random.Random(5), 0, 0
    while sent < MESSAGES:
        client = Raw(school.ports["postgres"])
        connections += 1
        try:
            if generator.random() < 0.9:
                assert client.signed_in("raw", token) == b"R"
            batch = b"".join(mutated(generator) for _ in range(40))
            sent += 40
            client.socket.sendall(batch)
            client.socket.settimeout(0.05)
            while client.socket.recv(65536):
                pass
        except (OSError, EOFError):
            pass
        finally:
            client.close()
    assert connections > 10
    for _ in range(100):  # so many came that even others' requests came too fast, for a while
        with suppress(psycopg.errors.TooManyConnections):
            assert answers(school, token)
            break
        time.sleep(0.2)
    else:
        pytest.fail("nobody is let in any more")
    book = school.book()
    assert book.balance("raw").spent == 0
    book.close()
    assert "Traceback" not in (school.folder / "stderr").read_text()


@pytest.mark.parametrize(
    "first",
    [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", struct.pack(">ii", 2**31 - 1, 3 << 16),
     struct.pack(">ii", 8, 1 << 16), struct.pack(">iiii", 16, 80877102, 1, 2)],
)  # fmt: skip
def test_what_is_no_start_is_let_go(school, token, first):
    client = Raw(school.ports["postgres"])
    client.socket.sendall(first)
    client.close()
    assert answers(school, token)


def test_a_question_before_signing_in_is_not_answered(school):
    client = Raw(school.ports["postgres"])
    client.send(b"", struct.pack(">i", 3 << 16) + b"user\0raw\0database\0school\0\0")
    client.receive()
    client.send(b"Q", COUNT.encode() + b"\0")
    letter, body = client.receive()
    assert (letter, b"08P01" in body) == (b"E", True)
    client.close()


def test_a_name_that_nobody_has_looks_like_any_other(school, token):
    """The same salt twice, the same words, and times that overlap: shuffled labels do as well."""
    salts, times, labels, replies = {}, [], [0, 1] * 40, set()
    random.shuffle(labels)
    for label in labels:
        name, client = ("nobody", "raw")[label], Raw(school.ports["postgres"])
        said = client.challenge(name)
        salts.setdefault(name, set()).add((said["s"], said["i"]))
        client.send(b"p", f"c=biws,r={said['r']},p={b64encode(bytes(32)).decode()}".encode())
        began = time.perf_counter()
        replies.add(client.receive())
        times.append(time.perf_counter() - began)
        client.close()
    assert [len(found) for found in salts.values()] == [1, 1]
    assert len(replies) == 1
    measured, known = np.array(times), np.array(labels)

    def difference(split):
        return abs(np.median(measured[split == 1]) - np.median(measured[split == 0]))

    shuffled = [difference(np.random.default_rng(seed).permutation(known)) for seed in range(500)]
    assert difference(known) <= max(np.quantile(shuffled, 0.999), 0.001)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    """A server with TLS on both doors, and its certificate."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("secure")
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (folder / "server.key").chmod(0o600)
    make_school(folder)
    ports = {"postgres": free_port(), "http": free_port()}
    text = settings_of(folder, ports, 0.2, 20, 1)
    text = text.replace("127.0.0.1:", "0.0.0.0:")
    for port in ports.values():
        text = text.replace(f'{port}"\n', f'{port}"\ncertificate = "server.pem"\nkey = "server.key"\n')
    server = Serving(folder, text, ports).start()
    yield server
    server.kill()


def test_tls_is_needed_and_sign_in_is_bound_to_it(secure):
    token = secure.token("tess")
    place = {"host": "localhost", "port": secure.ports["postgres"], "user": "tess", "password": token}
    place |= {"dbname": "school", "sslrootcert": str(secure.folder / "server.pem"), "autocommit": True}
    with psycopg.connect(**place, sslmode="verify-full", channel_binding="require") as made:
        made.execute("SET recuse.epsilon = 1")
        assert isinstance(made.execute(COUNT).fetchone()[0], int)
        assert made.pgconn.ssl_in_use
    with psycopg.connect(**place, sslmode="verify-full", channel_binding="disable") as made:
        assert made.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(psycopg.OperationalError, match="TLS alone"):
        psycopg.connect(**place | {"sslmode": "disable"})


def test_a_client_that_was_told_that_nothing_can_be_bound_is_refused():
    """Somebody between who takes -PLUS from the list is noticed: the client says `y`, and it was there."""
    from recuse.server.postgres.signin import PLAIN, Exchange
    from recuse.server.refusals import SignInError

    assert Exchange.begun("a", PLAIN, b"n,,n=,r=x", b"hash").nonce.startswith("x")
    assert Exchange.begun("a", PLAIN, b"y,,n=,r=x", None).nonce.startswith("x")
    with pytest.raises(SignInError):
        Exchange.begun("a", PLAIN, b"y,,n=,r=x", b"hash")


def test_https_is_spoken(secure, monkeypatch):
    import recuse

    monkeypatch.setenv("SSL_CERT_FILE", str(secure.folder / "server.pem"))
    with recuse.connect(f"https://localhost:{secure.ports['http']}", token=secure.token("una")) as db:
        assert db.ask(COUNT, 1).epsilon == 1

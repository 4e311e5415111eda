"""Messages to a webhook: signed, once, and tried again when they do not arrive."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer

import pytest

from genbench.errors import InputError
from genbench.team.queue.database import Queue
from genbench.team.queue.delivery import SIGNATURE, Chat, Webhook, deliver, signature
from genbench.team.queue.messages import list_messages, put_message, reserve_message
from tests.loopback import QuietHandler


class Receiver(QuietHandler):
    """A receiver that keeps what it gets, and answers with the status that its server names."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((body, self.headers.get(SIGNATURE)))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Location", "/elsewhere")
        self.end_headers()


@pytest.fixture
def receiver() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.got, server.status = [], 204  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def hook(receiver: HTTPServer) -> Webhook:
    return Webhook(f"http://127.0.0.1:{receiver.server_port}/", "secret")


def told(queue: Queue, key: str = "failed:1") -> bool:
    with queue.write() as connection:
        return put_message(connection, key, "failed", "nightly", "job 1 failed", detail={"job": 1})


def test_a_message_arrives_signed_and_once(queue: Queue, receiver: HTTPServer) -> None:
    assert told(queue) and not told(queue)
    assert deliver(queue, [hook(receiver)], 1000.0) == ["message 1 sent"]
    assert deliver(queue, [hook(receiver)], 1000.0) == []
    ((body, signed),) = receiver.got  # type: ignore[attr-defined]
    assert signed == signature("secret", body, 1000) and signed.startswith("t=1000,v1=")
    record = json.loads(body)
    assert (record["key"], record["kind"], record["detail"]) == ("failed:1", "failed", {"job": 1})
    assert list_messages(queue)[0].state == "sent"


@pytest.mark.parametrize("status", [500, 302])
def test_what_does_not_arrive_is_tried_again_later(queue: Queue, receiver: HTTPServer, status: int) -> None:
    receiver.status = status  # type: ignore[attr-defined]
    told(queue)
    assert deliver(queue, [hook(receiver)], 1000.0) == [f"message 1 did not arrive: status {status}"]
    assert deliver(queue, [hook(receiver)], 1059.0) == []
    receiver.status = 204  # type: ignore[attr-defined]
    assert deliver(queue, [hook(receiver)], 1060.0) == ["message 1 sent"]
    assert len(receiver.got) == 2  # type: ignore[attr-defined]


def test_nobody_listens(queue: Queue) -> None:
    told(queue)
    (line,) = deliver(queue, [Webhook("http://127.0.0.1:9/")], 1000.0)
    assert "did not arrive" in line and list_messages(queue)[0].tries == 1


def test_one_sender_has_a_message_at_a_time(queue: Queue) -> None:
    told(queue)
    (message,) = list_messages(queue)
    assert reserve_message(queue, message, 1000.0)
    assert not reserve_message(queue, message, 1001.0)
    assert reserve_message(queue, message, 1061.0)


@pytest.mark.parametrize("url", ["ftp://host/", "hooks.example.org", "https://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="GENBENCH_WEBHOOK_URL: wanted"):
        Webhook(url)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Apprise imports
def test_each_channel_gets_a_message_once(queue: Queue, receiver: HTTPServer) -> None:
    told(queue)
    chat = Chat([f"json://127.0.0.1:{receiver.server_port}/"])
    nobody = Webhook("http://127.0.0.1:9/")
    assert "did not arrive" in deliver(queue, [chat, nobody], 1000.0)[0]
    assert list_messages(queue)[0].arrived == ("chat",)
    assert deliver(queue, [chat, hook(receiver)], 2000.0) == ["message 1 sent"]
    first, second = (json.loads(body) for body, _ in receiver.got)  # type: ignore[attr-defined]
    assert first["message"] == "job 1 failed" and second["text"] == "job 1 failed"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Apprise imports
def test_marks_in_a_message_are_text_for_the_chat(queue: Queue, receiver: HTTPServer) -> None:
    with queue.write() as connection:
        put_message(connection, "a", "failed", "nightly", "refused: <!channel> <http://evil.example|here>")
    deliver(queue, [Chat([f"json://127.0.0.1:{receiver.server_port}/?format=html"])], 1000.0)
    ((body, _),) = receiver.got  # type: ignore[attr-defined]
    assert "<" not in json.loads(body)["message"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Apprise imports
def test_a_message_mentions_nobody_and_leads_nowhere_where_plain_text_has_marks(
    queue: Queue, receiver: HTTPServer
) -> None:
    text = "refused: @channel @here [look](http://evil.example/x), see <!here>, a@b.example, k@ 8"
    with queue.write() as connection:
        put_message(connection, "a", "failed", "nightly", text)
    deliver(queue, [Chat([f"mmost://127.0.0.1:{receiver.server_port}/abcdefghijklmnop"])], 1000.0)
    ((body, _),) = receiver.got  # type: ignore[attr-defined]
    sent = json.loads(body)["text"]
    assert not any(mark in sent for mark in ("@channel", "@here", "](http", "http://"))
    assert text in sent.replace("\u200b", "") and "k@ 8" in sent


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Apprise imports
def test_an_address_that_apprise_does_not_know_is_refused_and_not_shown(queue: Queue) -> None:
    with pytest.raises(InputError, match="address 2 of 2 is none that Apprise knows") as error:
        Chat(["json://127.0.0.1/", "secret-of-nobody"])
    assert "secret-of-nobody" not in str(error.value)
    told(queue)
    (line,) = deliver(queue, [Chat(["json://user:hidden@127.0.0.1:9/"])], 1000.0)
    assert "did not arrive" in line and "hidden" not in line

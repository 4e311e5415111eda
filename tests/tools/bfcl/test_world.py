"""The simulated services of a conversation: what functions do, what is state, and what is shared."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.tools.bfcl.files import Directory, File, GorillaFileSystem
from genbench.tools.bfcl.maths import MathAPI
from genbench.tools.bfcl.messages import MessageAPI
from genbench.tools.bfcl.padding import cards, crowd, long_text
from genbench.tools.bfcl.posts import TwitterAPI
from genbench.tools.bfcl.service import failed
from genbench.tools.bfcl.tickets import TicketAPI
from genbench.tools.bfcl.trading import STOCKS, TradingBot
from genbench.tools.bfcl.travel import AIRPORTS, CITIES, TravelAPI, fares, price_factor, traveler_error
from genbench.tools.bfcl.vehicle import VehicleControlAPI
from genbench.tools.bfcl.world import DOCUMENTS, SERVICES, World, functions_of
from genbench.tools.calls import Call, CallError

TREE: dict[str, Any] = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "a.txt": {"type": "file", "content": "b\na"},
                "docs": {"type": "directory", "contents": {}},
            },
        }
    }
}


def said(world: World, text: str) -> str:
    return world.call(world.read(text))


def test_files_are_moved_and_read_where_the_current_directory_is() -> None:
    world = World(["GorillaFileSystem"], {"GorillaFileSystem": TREE})
    assert said(world, "mv('a.txt', 'docs')") == """{"result": "'a.txt' moved to 'docs/a.txt'"}"""
    assert said(world, "cd(folder='docs')") == '{"current_working_directory": "docs"}'
    assert said(world, "sort('a.txt')") == '{"sorted_content": "a\\nb"}'
    assert said(world, "pwd()") == '{"current_working_directory": "/home/docs"}'


def test_the_current_directory_is_no_state_and_the_tree_is() -> None:
    one, other = (World(["GorillaFileSystem"], {"GorillaFileSystem": TREE}) for _ in range(2))
    said(one, "cd('docs')")
    assert one.state == other.state
    said(one, "touch('new')")
    assert one.state != other.state


def test_worlds_share_no_state_and_leave_the_row_as_it_is() -> None:
    config = {"TwitterAPI": {"authenticated": True, "tweets": {}}}
    first = World(["TwitterAPI"], config)
    said(first, "post_tweet('x')")
    said(first, "mention(0, ['@leak'])")
    second = World(["TwitterAPI"], config)
    assert said(second, "post_tweet('x')") == (
        '{"id": 0, "username": "john", "content": "x", "tags": [], "mentions": []}'
    )
    assert config == {"TwitterAPI": {"authenticated": True, "tweets": {}}}
    assert STOCKS["AAPL"]["price"] == 227.16


def test_users_are_mentioned_in_a_post_that_there_is() -> None:
    world = World(["TwitterAPI"], {"TwitterAPI": {"authenticated": True, "tweets": {}}})
    said(world, "post_tweet('x')")
    assert said(world, "mention(0, ['@kim'])") == '{"mention_status": "Users mentioned successfully"}'
    assert '"mentions": ["@kim"]' in said(world, "get_tweet(0)")
    assert said(world, "mention(1, ['@kim'])").startswith('{"error"')


def test_an_unknown_function_and_wrong_arguments_are_results() -> None:
    world = World(["MathAPI"], {})
    assert world.call(Call("rm")) == "Error during execution: name 'rm' is not defined"
    assert "unexpected keyword argument" in world.call(Call("add", {"c": 1}))
    assert said(world, "divide(1, 0)") == '{"error": "Cannot divide by zero"}'
    assert "too large" in said(world, "power(10, 1000000000)")


def test_accepted_calls_are_read_without_being_run() -> None:
    world = World(["MathAPI"], {})
    assert world.read("round_number(1.5, decimal_places=1)") == Call(
        "round_number", {"number": 1.5, "decimal_places": 1}
    )
    for text in ("add(a=__import__('os'))", "x = 1", "nothing(1)"):
        with pytest.raises(CallError):
            world.read(text)


def test_a_directory_that_is_copied_into_itself_ends_in_an_error() -> None:
    world = World(["GorillaFileSystem"], {"GorillaFileSystem": TREE})
    said(world, "cp('docs', 'docs')")
    assert said(world, "du()").startswith("Error during execution: maximum recursion depth")


def test_releases_differ_in_functions_and_messages() -> None:
    assert "make_transaction" in functions_of(TradingBot, "v3")
    assert "make_transaction" not in functions_of(TradingBot, "v4")
    old = World(["TwitterAPI"], {})
    new = World(["TwitterAPI"], {}, release="v4")
    assert said(old, "comment(1, 'x')").startswith("Error during execution")
    assert said(new, "comment(1, 'x')").startswith('{"error"')


def test_a_wrong_token_uses_up_the_right_one_under_v3() -> None:
    state = {"access_token": "a", "token_expires_in": 1, "credit_card_list": {"1": {"balance": 3}}}
    answers = []
    for release in ("v3", "v4"):
        world = World(["TravelAPI"], {"TravelAPI": state}, release=release)
        said(world, "get_credit_card_balance('b', '1')")
        answers.append(said(world, "get_credit_card_balance('a', '1')"))
    assert answers == ['{"error": "Token expired"}', '{"card_balance": 3}']


def test_an_engine_starts_with_locked_doors_and_the_brake_pressed() -> None:
    world = World(["VehicleControlAPI"], {"VehicleControlAPI": {"fuelLevel": 5}})
    assert "doors must be locked" in said(world, "startEngine('START')")
    said(world, "lockDoors(False, ['driver', 'passenger', 'rear_left', 'rear_right'])")
    said(world, "pressBrakePedal(1)")
    assert said(world, "startEngine('START')").startswith('{"engineState": "running"')


def test_long_context_lengthens_files_and_results() -> None:
    world = World(["GorillaFileSystem", "TravelAPI"], {"GorillaFileSystem": TREE}, padded=True)
    assert len(said(world, "cat('a.txt')")) > len(long_text())
    assert set(world.state["TravelAPI"]["credit_card_list"]) == set(cards())
    said(world, "cd('docs')")
    assert crowd()[0] in said(world, "ls()")


def test_fares_depend_on_route_class_and_date() -> None:
    assert fares()["SFO", "LAX"] == 200
    assert price_factor("SFO", "LAX", "2024-01-01", "business") == 4
    with pytest.raises(ValueError, match="route"):
        price_factor("LAX", "CDG", "2024-01-01", "first")
    assert set(CITIES.values()) == set(AIRPORTS)
    assert traveler_error(("A", "B"), ("A", "B"), "2020-01-01", "US1") is not None


def test_a_ticket_is_closed_once() -> None:
    desk = TicketAPI({"current_user": "me"})
    desk.create_ticket("t")
    assert "error" not in desk.close_ticket(1)
    assert desk.close_ticket(1) == failed("Ticket with ID 1 is already closed.")


def test_every_service_has_functions_and_a_file_of_documents() -> None:
    kinds = {GorillaFileSystem, MathAPI, MessageAPI, TwitterAPI, TicketAPI, TradingBot, TravelAPI}
    assert {*kinds, VehicleControlAPI} == set(SERVICES.values())
    assert set(SERVICES) == set(DOCUMENTS)
    assert all(functions_of(kind, "v3") for kind in SERVICES.values())


def test_two_directories_are_equal_wherever_they_are() -> None:
    inside = Directory("a", Directory("b"))
    inside.add(File("x"))
    outside = Directory("a")
    outside.add(File("x"))
    assert inside == outside
    with pytest.raises(ValueError, match="already exists"):
        inside.add(File("x"))

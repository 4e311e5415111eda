"""A small shop for conversations with a simulated user."""

from typing import Any


class Shop:
    def __init__(self, state: dict[str, Any]) -> None:
        self.orders = state["orders"]

    def find_order(self, customer: str) -> dict[str, Any]:
        """Find the order of a customer.

        Args:
            customer: the first name of the customer.
        """
        for number, order in self.orders.items():
            if order["customer"] == customer:
                return {"number": number, **order}
        raise ValueError("this customer has no order")

    def cancel_order(self, number: str, reason: str) -> dict[str, Any]:
        """Cancel an order that was not sent yet.

        Args:
            number: the number of the order.
            reason: either "ordered by mistake" or "no longer needed".
        """
        order = self.orders[number]
        if order["status"] != "pending":
            raise ValueError("only pending orders can be cancelled")
        order["status"], order["reason"] = "cancelled", reason
        return {"refund": order["price"]}

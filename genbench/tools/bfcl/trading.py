"""The broker of BFCL's conversations: stocks, orders and an account."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from types import MappingProxyType
from typing import Any, ClassVar

from genbench.tools.bfcl.padding import averages, order_notes, symbols, transactions
from genbench.tools.bfcl.service import Release, Result, Service, failed

_QUOTES = (
    ("AAPL", 227.16, 0.17, 2.552, 227.11, 227.09),
    ("GOOG", 2840.34, 0.24, 1.123, 2835.67, 2842.15),
    ("TSLA", 667.92, -0.12, 1.654, 671.15, 668.2),
    ("MSFT", 310.23, 0.09, 3.234, 309.88, 310.11),
    ("NVDA", 220.34, 0.34, 1.234, 220.45, 220.67),
    ("ALPH", 1320.45, -0.08, 1.567, 1321.12, 1325.78),
    ("OMEG", 457.23, 0.12, 2.345, 456.78, 458.12),
    ("QUAS", 725.89, -0.03, 1.789, 726.45, 728.0),
    ("NEPT", 88.34, 0.19, 0.654, 88.21, 88.67),
    ("SYNX", 345.67, 0.11, 2.112, 345.34, 346.12),
    ("ZETA", 22.09, -0.05, 0.789, 22.12, 22.34),
)
_FACTS = ("price", "percent_change", "volume", "MA(5)", "MA(20)")
STOCKS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {symbol: dict(zip(_FACTS, values, strict=True)) for symbol, *values in _QUOTES}
)
_ORDER = ("id", "order_type", "symbol", "price", "amount", "status")
ORDERS: Mapping[int, dict[str, Any]] = MappingProxyType(
    {
        values[0]: dict(zip(_ORDER, values, strict=True))
        for values in (
            (12345, "Buy", "AAPL", 210.65, 10, "Completed"),
            (12446, "Sell", "GOOG", 2840.56, 5, "Pending"),
        )
    }
)
ACCOUNT: Mapping[str, Any] = MappingProxyType(
    {"account_id": 12345, "balance": 10000.0, "binding_card": 1974202140965533}
)
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "Apple": "AAPL",
        "Google": "GOOG",
        "Tesla": "TSLA",
        "Microsoft": "MSFT",
        "Nvidia": "NVDA",
        "Zeta Corp": "ZETA",
        "Alpha Tech": "ALPH",
        "Omega Industries": "OMEG",
        "Quasar Ltd.": "QUAS",
        "Neptune Systems": "NEPT",
        "Synex Solutions": "SYNX",
        "Amazon": "AMZN",
    }
)
SECTORS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"Technology": ("AAPL", "GOOG", "MSFT", "NVDA"), "Automobile": ("TSLA", "F", "GM")}
)


_NOW = datetime(2024, 9, 1, 10, 30)
_DAY_S = 24 * 60 * 60
_SEED = 1053520
_OPENS, _CLOSES = time(9, 30), time(16, 0)
_STAMP = "%Y-%m-%d %H:%M:%S"


class TradingBot(Service):
    """A broker with one account. It is always 10:30 of the same day."""

    only_in: ClassVar[Mapping[str, Release]] = MappingProxyType(
        {
            "make_transaction": "v3",
            "update_market_status": "v3",
            "update_stock_price": "v3",
            "withdraw_funds": "v4",
        }
    )

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self._random = random.Random(config.get("random_seed", _SEED))
        orders: dict[Any, Result] = self._given("orders", dict(ORDERS))
        self.orders = {_number(key): order for key, order in orders.items()}
        self.account_info = self._given("account_info", dict(ACCOUNT))
        self.authenticated = self._given("authenticated", False)
        self.market_status = self._given("market_status", "Closed")
        self.order_counter = self._given("order_counter", 12446)
        self.stocks: dict[str, Result] = self._given("stocks", dict(STOCKS))
        self.watch_list: list[str] = self._given("watch_list", ["NVDA"])
        self.transaction_history: list[Result] = self._given("transaction_history", [])

    def _refusal(self, doing: str) -> Result | None:
        """Return the error of a user who is not logged in."""
        if self.authenticated:
            return None
        return failed(f"User not authenticated. Please log in to {doing}.")

    def _book(self, kind: str, amount: float) -> float:
        """Change the balance and return it."""
        self.account_info["balance"] += amount if kind == "deposit" else -amount
        stamp = _NOW + timedelta(seconds=self._random.randint(0, _DAY_S))
        self.transaction_history.append({"type": kind, "amount": amount, "timestamp": stamp.strftime(_STAMP)})
        balance: float = self.account_info["balance"]
        return balance

    def get_current_time(self) -> Result:
        """Return the time of day."""
        return {"current_time": _NOW.strftime("%I:%M %p")}

    def update_market_status(self, current_time_str: str) -> Result:
        """Open or close the market, as the time of day says."""
        now = datetime.strptime(current_time_str, "%I:%M %p").time()
        self.market_status = "Open" if _OPENS <= now <= _CLOSES else "Closed"
        return {"status": self.market_status}

    def get_symbol_by_name(self, name: str) -> Result:
        """Return the symbol of a company."""
        known = {**SYMBOLS, "Gorilla": "GORI"} if self._is_v4 else SYMBOLS
        return {"symbol": known.get(name, "Stock not found")}

    def get_stock_info(self, symbol: str) -> Result:
        """Return what is known of a stock."""
        if symbol not in self.stocks:
            return failed(f"Stock with symbol '{symbol}' not found.")
        longer = {"MA(5)": list(averages("5")), "MA(20)": list(averages("20"))} if self._padded else {}
        return {**self.stocks[symbol], **longer}

    def get_order_details(self, order_id: int) -> Result:
        """Return an order."""
        if order_id not in self.orders:
            known = f"Here is the list of orders_id: {list(self.orders)}"
            return failed(f"Order with ID {order_id} not found.{known}")
        order = self.orders[order_id]
        return {**order, "metadata": order_notes(order["symbol"])} if self._padded else order

    def cancel_order(self, order_id: int) -> Result:
        """Cancel an order that is not completed."""
        if order_id not in self.orders:
            return failed(f"Order with ID {order_id} not found.")
        order = self.orders[order_id]
        if order["status"] == "Completed":
            return failed(f"Can't cancel order {order_id}. Order is already completed.")
        order["status"] = "Cancelled"
        return {"order_id": order_id, "status": "Cancelled"}

    def place_order(self, order_type: str, symbol: str, price: float, amount: int) -> Result:
        """Place an order. v4 checks that the balance covers it."""
        if refused := self._refusal("place an order"):
            return refused
        if symbol not in self.stocks:
            return failed(f"Invalid stock symbol: {symbol}")
        if price <= 0 or amount <= 0:
            return failed("Price and amount must be positive values.")
        price, balance = float(price), self.account_info.get("balance", 0)
        if self._is_v4 and order_type.lower() == "buy" and price * int(amount) > balance:
            need = f"required ${price * int(amount):.2f} but only ${balance:.2f} available."
            return failed(f"Insufficient funds: {need}")
        number = self.order_counter
        facts = {"order_type": order_type, "symbol": symbol, "price": price, "amount": amount}
        self.orders[number] = {"id": number, **facts, "status": "Open"}
        self.order_counter += 1
        return {
            "order_id": number,
            "order_type": order_type,
            "status": "Pending",
            "price": price,
            "amount": amount,
        }

    def make_transaction(self, account_id: int, xact_type: str, amount: float) -> Result:
        """Deposit or withdraw money while the market is open."""
        refused = self._transaction_refusal()
        if refused is None and account_id != self.account_info["account_id"]:
            refused = failed(f"Account with ID {account_id} not found.")
        if refused is None and amount <= 0:
            refused = failed("Transaction amount must be positive.")
        if refused is not None:
            return refused
        if xact_type == "deposit":
            return {"status": "Deposit successful", "new_balance": self._book("deposit", amount)}
        if xact_type != "withdrawal":
            return failed("Invalid transaction type. Use 'deposit' or 'withdrawal'.")
        return self._withdrawn(amount)

    def withdraw_funds(self, amount: float) -> Result:
        """Withdraw money while the market is open."""
        if refused := self._transaction_refusal():
            return refused
        return failed("Transaction amount must be positive.") if amount <= 0 else self._withdrawn(amount)

    def _transaction_refusal(self) -> Result | None:
        if refused := self._refusal("make a transaction"):
            return refused
        is_open = self.market_status == "Open"
        return None if is_open else failed("Market is closed. Transactions are not allowed.")

    def _withdrawn(self, amount: float) -> Result:
        if amount > self.account_info["balance"]:
            return failed("Insufficient funds for withdrawal.")
        return {"status": "Withdrawal successful", "new_balance": self._book("withdrawal", amount)}

    def get_account_info(self) -> Result:
        """Return the account."""
        account: Result = self.account_info
        return self._refusal("view account information") or account

    def trading_login(self, username: str, password: str) -> Result:
        """Log in. Any name and password do."""
        del username, password
        was_in, self.authenticated = self.authenticated, True
        return {"status": "Already logged in" if was_in else "Logged in successfully"}

    def trading_get_login_status(self) -> Result:
        """Tell whether the user is logged in."""
        return {"status": bool(self.authenticated)}

    def trading_logout(self) -> Result:
        """Log out."""
        was_in, self.authenticated = self.authenticated, False
        return {"status": "Logged out successfully" if was_in else "No user is currently logged in"}

    def fund_account(self, amount: float) -> Result:
        """Deposit money at any time."""
        if refused := self._refusal("fund the account"):
            return refused
        if amount <= 0:
            return failed("Funding amount must be positive.")
        return {"status": "Account funded successfully", "new_balance": self._book("deposit", amount)}

    def remove_stock_from_watchlist(self, symbol: str) -> Result:
        """Remove a stock from the list of watched ones."""
        if refused := self._refusal("modify the watchlist"):
            return refused
        if symbol not in self.watch_list:
            return failed(f"Stock {symbol} not found in watchlist.")
        self.watch_list.remove(symbol)
        return {"status": f"Stock {symbol} removed from watchlist successfully."}

    def get_watchlist(self) -> Result | list[str]:
        """Return the watched stocks."""
        if not self.authenticated:
            return ["Error: User not authenticated. Please log in to view the watchlist."]
        return (
            [*self.watch_list, *symbols("watched", 1_000)] if self._padded else {"watchlist": self.watch_list}
        )

    def add_to_watchlist(self, stock: str) -> Result:
        """Watch a stock."""
        if stock in self.stocks and stock not in self.watch_list:
            self.watch_list.append(stock)
        return {"watchlist" if self._is_v4 else "symbol": self.watch_list}

    def get_order_history(self) -> Result | list[Result]:
        """Return the numbers of all orders."""
        refused = self._refusal("view order history")
        return {"history": list(self.orders)} if refused is None else [refused]

    def get_transaction_history(
        self, start_date: str | None = None, end_date: str | None = None
    ) -> Result | list[Result]:
        """Return the transactions between two days."""
        refused = self._refusal("view transaction history")
        if refused is not None:
            return [refused]
        start = datetime.strptime(start_date, "%Y-%m-%d") if start_date else datetime.min
        end = datetime.strptime(end_date, "%Y-%m-%d") if end_date else datetime.max
        found = [
            item
            for item in self.transaction_history
            if start <= datetime.strptime(item["timestamp"], _STAMP) <= end
        ]
        return {"transaction_history": [*found, *transactions()] if self._padded else found}

    def update_stock_price(self, symbol: str, new_price: float) -> Result:
        """Set the price of a stock."""
        if symbol not in self.stocks:
            return failed(f"Stock with symbol '{symbol}' not found.")
        if new_price <= 0:
            return failed("New price must be a positive value.")
        stock = self.stocks[symbol]
        old, stock["price"] = stock["price"], new_price
        stock["percent_change"] = (new_price - old) / old * 100
        return {"symbol": symbol, "old_price": old, "new_price": new_price}

    def get_available_stocks(self, sector: str) -> Result:
        """Return the stocks of a sector."""
        found = list(SECTORS.get(sector, ()))
        return {"stock_list": [*found, *symbols(sector, 1_000)] if self._padded and found else found}

    def filter_stocks_by_price(self, stocks: list[str], min_price: float, max_price: float) -> Result:
        """Return the stocks with a price between two."""
        prices = {symbol: self.stocks.get(symbol, {}).get("price", 0) for symbol in stocks}
        return {"filtered_stocks": [symbol for symbol in stocks if min_price <= prices[symbol] <= max_price]}

    def notify_price_change(self, stocks: list[str], threshold: float) -> Result:
        """Tell which stocks changed by a threshold in per cent."""
        known = [symbol for symbol in stocks if symbol in self.stocks]
        changed = [symbol for symbol in known if abs(self.stocks[symbol]["percent_change"]) >= threshold]
        if not changed:
            return {"notification": "No significant price changes in the selected stocks."}
        return {"notification": f"Stocks {', '.join(changed)} have significant price changes."}


def _number(key: Any) -> Any:
    """Return the number of an order, which JSON has as a text."""
    return int(key) if isinstance(key, str) and key.isdigit() else key

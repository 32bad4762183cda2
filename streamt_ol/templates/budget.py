"""What rendering a template may cost, and where it pays for it."""

from __future__ import annotations

import re
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_STEPS = 300_000  # nodes of loop, macro and template bodies that are executed
MAX_WEIGHT = 20_000_000  # characters gone through or made; see Budget.weigh
_ELEMENT = 16  # the weight of a place in a list, in characters
_INTEGER_BITS = 4096


class BudgetSpentError(Exception):
    """A bound is reached; the argument says which, in words for the user."""


class Budget:
    """What is left of one rendering's steps and weight."""

    def __init__(self, steps: int = MAX_STEPS, weight: int = MAX_WEIGHT) -> None:
        self._steps = steps
        self._weight = weight

    def step(self, cost: int) -> bool:
        """Spend ``cost`` steps; return true, so that a condition can carry the call."""
        self._steps -= cost
        if self._steps < 0:
            raise BudgetSpentError("it repeats too much (a loop without end?)")
        return True

    def spend(self, weight: int) -> None:
        """Spend ``weight`` characters."""
        self._weight -= weight
        if self._weight < 0:
            raise BudgetSpentError("it makes or handles too much text")

    def weigh(self, value: Any) -> int:
        """Return the characters in ``value``, at any depth; never more than what is left."""
        if not isinstance(value, dict | list | tuple | set | frozenset):
            return _weight_of_one(value)
        total = 0
        waiting: list[Any] = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                waiting += [*item, *item.values()]
                total += 2 * _ELEMENT * len(item)
            elif isinstance(item, list | tuple | set | frozenset):
                waiting += item
                total += _ELEMENT * len(item)
            else:
                total += _weight_of_one(item)
            if total > self._weight:
                raise BudgetSpentError("it makes or handles too much text")
        return total


def _weight_of_one(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
        raise BudgetSpentError("it computes with too large a number")
    return 1


def size_of(value: object) -> int:
    """Return the length that ``value`` gives to a text that is padded by it or to it."""
    if isinstance(value, int):
        return abs(value)
    return len(value) if isinstance(value, str) else 1


def _replaced(text: object, old: object = "", new: object = "", *_: object, **__: object) -> int:
    return str(text).count(str(old)) * len(str(new))


def format_size(text: str) -> int:
    """Return how many fields ``str.format`` fills in; refuse wide and computed widths."""
    fields = [(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None]
    if any(_is_wide(spec or "") for _, spec in fields):
        raise BudgetSpentError("it formats with a width that is not a small number")
    return len(fields)


def percent_size(text: str) -> int:
    """Return how many fields ``text % values`` fills in; refuse wide and computed widths."""
    found = _PERCENT.findall(text)
    if any(map(_is_wide, found)):
        raise BudgetSpentError("it formats with a width that is not a small number")
    return len(found)


_PERCENT = re.compile(r"%(?:\([^()%]{0,200}+\))?+([-#0 +.*\d]*+)")


def _is_wide(spec: str) -> bool:
    return re.search(r"\d{4}|[*{]", spec) is not None


# How much longer than its operands a result may be. A method's own object comes first.
METHOD_SIZES: dict[str, Callable[..., int]] = {
    "center": lambda _, width, *__: size_of(width),
    "expandtabs": lambda text, tabsize=8: text.count("\t") * size_of(tabsize),
    "join": lambda text, parts: len(parts) * len(text) if hasattr(parts, "__len__") else 0,
    "ljust": lambda _, width, *__: size_of(width),
    "replace": _replaced,
    "rjust": lambda _, width, *__: size_of(width),
    "zfill": lambda _, width: size_of(width),
}
FILTER_SIZES: dict[str, Callable[..., int]] = {
    "batch": lambda _, linecount=1, *__, **___: _ELEMENT * size_of(linecount),
    "center": lambda _, width=80, **__: size_of(width),
    "indent": lambda text, width=4, *_, **__: (str(text).count("\n") + 1) * size_of(width),
    "replace": _replaced,
    "round": lambda _, precision=0, *__: size_of(precision),
    "slice": lambda _, slices=1, *__, **___: _ELEMENT * size_of(slices),
}


class CountedNodes(NodeTransformer):
    """Put the payments into a parsed template.

    The bodies of loops, macros, call blocks and templates begin with ``step(cost)``, and so do
    the conditions of filtered loops; what is compared or put into a list is weighed; ``~`` joins
    through the environment. The functions are reached as attributes of the environment, which
    no template can name or replace.
    """

    def get_visitor(self, node: nodes.Node) -> Callable[..., nodes.Node] | None:
        """Return what changes a node of this type, if anything does."""
        change = _CHANGES.get(type(node))
        return partial(change, self) if change else None


def _pay_for_body(visitor: CountedNodes, node: Any) -> nodes.Node:
    cost = sum(map(_cost, node.body))
    visitor.generic_visit(node)
    node.body.insert(0, nodes.ExprStmt(_call("step", nodes.Const(cost + 1))))
    return node  # type: ignore[no-any-return]


def _pay_for_loop(visitor: CountedNodes, node: nodes.For) -> nodes.Node:
    cost = 0 if node.test is None else _cost(node.test)
    _pay_for_body(visitor, node)
    if node.test is not None:
        node.test = nodes.And(_call("step", nodes.Const(cost)), node.test)
    return node


def _join_through_environment(visitor: CountedNodes, node: nodes.Concat) -> nodes.Node:
    visitor.generic_visit(node)
    return _call("joined", *node.nodes)


def _weigh_compared(visitor: CountedNodes, node: nodes.Compare) -> nodes.Node:
    visitor.generic_visit(node)
    node.expr = _call("weighed", node.expr)
    for operand in node.ops:
        operand.expr = _call("weighed", operand.expr)
    return node


def _weigh_made(visitor: CountedNodes, node: Any) -> nodes.Node:
    visitor.generic_visit(node)
    is_assigned_to = getattr(node, "ctx", "load") != "load"
    return node if is_assigned_to else _call("weighed", node)


_CHANGES: dict[type[nodes.Node], Callable[..., nodes.Node]] = {
    nodes.CallBlock: _pay_for_body,
    nodes.Compare: _weigh_compared,
    nodes.Concat: _join_through_environment,
    nodes.Dict: _weigh_made,
    nodes.For: _pay_for_loop,
    nodes.List: _weigh_made,
    nodes.Macro: _pay_for_body,
    nodes.Template: _pay_for_body,
    nodes.Tuple: _weigh_made,
}


def _cost(root: nodes.Node) -> int:
    """Return the nodes below ``root``, and for its plain text a node in 64 characters."""
    total = 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        total += 1 + (len(node.data) // 64 if isinstance(node, nodes.TemplateData) else 0)
        waiting.extend(node.iter_child_nodes())
    return total


def _call(name: str, *arguments: Any) -> nodes.Call:
    return nodes.Call(nodes.EnvironmentAttribute(name), list(arguments), [], None, None)

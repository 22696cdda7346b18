"""The inside of a Go template's actions: pipelines, commands, operands.

Functions are not looked up here: `goread` checks them before any data exists, and `goeval` when it calls them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from claimsmith.templating import goast, golex, limits
from claimsmith.templating.golex import Token
from claimsmith.templating.problems import Finding, Place, TemplateError, raised_at, refusal

TOP_LEVEL: Final = ("apiVersion", "kind", "metadata", "spec", "status")
"""The fields of the data that may be written without their leading dot."""

_MAX_VARIABLES = 256
_OPERANDS = frozenset(["dot", "variable", "field", "word", "string", "raw", "char", "number", "left"])


@dataclass
class PipelineParser:
    """Reads pipelines from the tokens; keeps which variables are declared and what deserves a warning."""

    place: Place
    tokens: list[Token]
    position: int = 0
    depth: int = 0
    loops: int = 0
    scope: list[str] = field(default_factory=lambda: ["$"])
    warnings: list[Finding] = field(default_factory=list)

    # Tokens

    def peek(self) -> Token:
        """The token to come."""
        return self.tokens[self.position]

    def next(self) -> Token:
        """The same, taken; the last one stays."""
        token = self.tokens[self.position]
        self.position += token.kind != "end"
        return token

    def skip_spaces(self) -> Token:
        """The token to come after spaces."""
        while self.peek().kind == "space":
            self.position += 1
        return self.peek()

    def refuse(self, what: str, fix: str, token: Token | None = None) -> TemplateError:
        """The error for one problem at a token, else at the one to come."""
        return refusal(what, fix, self.place.at((token or self.peek()).pos))

    def close(self, keyword: str) -> None:
        """Take the end of an action that is a keyword alone."""
        token = self.skip_spaces()
        if token.kind != "close":
            raise self.refuse(f"{keyword} takes nothing after it", f"write {{{{ {keyword} }}}}")
        self.next()

    # Pipelines

    def pipe(self, end: str, context: str) -> goast.Pipe:
        """A pipeline up to a token of kind `end`, which is past."""
        start = self.skip_spaces()
        names, assigns = self.declarations(context)
        commands = [self.command(context)]
        while self.skip_spaces().kind == "pipe":
            self.next()
            commands.append(self.command(context))
        token = self.next()
        if token.kind != end:
            raise self.unexpected(token)
        for command in commands[1:]:
            if isinstance(command.operands[0], goast.Dot | goast.Nil | goast.Literal):
                raise refusal("a value takes no argument", "pipe into a function", self.place.at(command.pos))
        if not assigns:
            self.scope.extend(names)
        if len(self.scope) > _MAX_VARIABLES:
            raise self.refuse("too many variables", f"declare at most {_MAX_VARIABLES}", start)
        return goast.Pipe(start.pos, tuple(commands), names, assigns)

    def declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        """The variables before `:=` or `=`, and whether they are assigned to; none where there is no such sign."""
        start = self.position
        names: list[str] = []
        while self.skip_spaces().kind == "variable":
            names.append(self.next().text)
            sign = self.skip_spaces()
            if sign.kind not in ("declare", "assign", "comma"):
                break
            self.next()
            if sign.kind == "comma" and context == "range" and len(names) < 2:
                continue
            if sign.kind == "comma":
                raise self.refuse("too many variables", "declare one variable, or two in a range", sign)
            if sign.kind == "assign":
                for name in names:
                    self.known(name, sign)
            return tuple(names), sign.kind == "assign"
        self.position = start
        return (), False

    def known(self, name: str, token: Token) -> None:
        """Refuse a variable that is not declared."""
        if name not in self.scope:
            raise self.refuse(f"the variable {name} is not declared", f"declare it first: {{{{ {name} := … }}}}", token)

    def command(self, context: str) -> goast.Command:
        """Operands with spaces between them."""
        start = self.skip_spaces()
        operands: list[goast.Operand] = []
        while (token := self.skip_spaces()).kind in _OPERANDS:
            if operands and self.tokens[self.position - 1].kind != "space":
                raise self.refuse(f"unexpected {token.text!r}", "put a space before it")
            operands.append(self.operand())
        if not operands and token.kind in ("close", "right", "pipe"):
            raise self.refuse(f"{context} needs a value", "write one: .spec.field, a literal or a function", token)
        if not operands:
            raise self.unexpected(token)
        return goast.Command(start.pos, tuple(operands))

    def unexpected(self, token: Token) -> TemplateError:
        """The error for a token that cannot stand where it does."""
        if token.kind == "close":
            return self.refuse("a parenthesis is not closed", "close it: )", token)
        return self.refuse(f"unexpected {token.text or 'end of the template'!r}", "remove it, or quote it", token)

    def operand(self) -> goast.Operand:
        """A term, and the fields right after it."""
        token = self.peek()
        with raised_at(self.place, token.pos):
            node = self.term()
        names: list[str] = []
        while self.peek().kind == "field":
            names.append(self.next().text[1:])
        if not names:
            return self.bare(node) if isinstance(node, goast.Identifier) and node.name in TOP_LEVEL else node
        match node:
            case goast.Field(pos, first):
                return goast.Field(pos, (*first, *names))
            case goast.Variable(pos, name):
                return goast.Variable(pos, name, tuple(names))
            case goast.Identifier(_, name) if name in TOP_LEVEL:
                return self.bare(node, *names)
            case goast.Dot() | goast.Nil() | goast.Literal():
                raise self.refuse("a literal has no fields", "remove the field", token)
            case _:
                return goast.Chain(token.pos, node, tuple(names))

    def bare(self, node: goast.Identifier, *names: str) -> goast.Variable:
        """`spec.version`, which Go would take for a function, read as `.spec.version` of the data."""
        written = ".".join((node.name, *names))
        what = f"{{{{ {written} }}}} has no leading dot; it is read as .{written}"
        fix = f"write {{{{ .{written} }}}}"
        self.warnings.append(Finding(what, self.place.at(node.pos), fix=fix, severity="warning"))
        return goast.Variable(node.pos, "$", (node.name, *names))

    def term(self) -> goast.Operand:
        """A literal, field, variable, function or pipeline in parentheses."""
        token = self.next()
        match token.kind:
            case "dot":
                return goast.Dot(token.pos)
            case "field":
                return goast.Field(token.pos, (token.text[1:],))
            case "variable":
                self.known(token.text, token)
                return goast.Variable(token.pos, token.text)
            case "string":
                return goast.Literal(token.pos, golex.unquoted(token.text))
            case "raw":
                return goast.Literal(token.pos, token.text[1:-1].replace("\r", ""))
            case "char":
                return goast.Literal(token.pos, golex.character(token.text))
            case "number":
                return goast.Literal(token.pos, golex.number(token.text))
            case "left":
                return self.parenthesised(token)
            case _:
                return self.word(token)

    def word(self, token: Token) -> goast.Operand:
        """What a bare word stands for."""
        match token.text:
            case "true" | "false":
                return goast.Literal(token.pos, token.text == "true")
            case "nil":
                return goast.Nil(token.pos)
            case word if word in golex.KEYWORDS:
                raise self.refuse(f"{word} must stand first in its action", "move it, or quote it", token)
            case word:
                return goast.Identifier(token.pos, word)

    def parenthesised(self, token: Token) -> goast.Pipe:
        """The pipeline after a left parenthesis."""
        self.depth += 1
        if self.depth > limits.MAX_DEPTH:
            raise self.refuse("parentheses are nested too deeply", "use variables", token)
        pipe = self.pipe("right", "a parenthesis")
        self.depth -= 1
        return pipe

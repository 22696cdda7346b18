"""A Go template's text in, its tree out; what is outside the subset is refused here, with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from claimsmith.templating import golex, limits
from claimsmith.templating.goast import Action, Block, Branch, Invocation, Jump, Node, Pipe, Range, Text
from claimsmith.templating.goexpr import PipelineParser
from claimsmith.templating.golex import Token
from claimsmith.templating.problems import Finding, Place, raised_at


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template, and what was accepted with a warning."""

    block: Block
    place: Place
    warnings: tuple[Finding, ...] = ()
    named: Mapping[str, Block] = field(default_factory=dict)
    """The templates that `define` and `block` name."""

    def blocks(self) -> tuple[Block, ...]:
        """The template itself, then the named ones."""
        return (self.block, *self.named.values())


@lru_cache(maxsize=256)
def parse(
    text: str, file: str = "template", *, whole: bool = False, delimiters: tuple[str, str] = golex.DELIMITERS
) -> Tree:
    """The tree of a template. The whole language has named templates too; our own templates do without them."""
    limits.refuse_long(text)
    place = Place(text, file)
    parser = _Parser(place, golex.tokens(place, delimiters), whole=whole)
    with raised_at():
        block, _ = parser.block(frozenset({"end"}))
    return Tree(block, place, tuple(parser.warnings), parser.named)


@dataclass
class _Parser(PipelineParser):
    """One pass over the tokens."""

    whole: bool = False
    named: dict[str, Block] = field(default_factory=dict)

    def block(self, ends: frozenset[str]) -> tuple[Block, str]:
        """The nodes up to one of the ends, which is past: the end of the template, or `end`, or `else`."""
        self.depth += 1
        if self.depth > limits.MAX_DEPTH:
            raise self.refuse("blocks are nested too deeply", "make the template flatter")
        outer = len(self.scope)
        nodes: list[Node] = []
        while True:
            token = self.next()
            if token.kind == "text":
                nodes.append(Text(token.pos, token.text))
                continue
            word = self.keyword(token)
            if word in ends:
                break
            if word == "define" and self.whole:
                self.define(token)
                continue
            nodes.append(self.node(token, word))
        self.depth -= 1
        del self.scope[outer:]
        return tuple(nodes), word

    def keyword(self, token: Token) -> str:
        """The keyword that an action opens with, taken; `end` with no action for the end of the template."""
        if token.kind == "end":
            if self.depth > 1:
                raise self.refuse("a block is not closed", "close every if, with and range by {{ end }}", token)
            return "end"
        word = self.skip_spaces()
        if word.kind != "word" or word.text not in golex.KEYWORDS:
            return ""
        self.next()
        if self.depth == 1 and word.text in ("end", "else"):
            raise self.refuse(
                f"{word.text} without a block", "remove it, or open the block with if, with or range", word
            )
        return word.text

    def node(self, token: Token, word: str) -> Node:
        match word:
            case "":
                pipe = self.pipe("close", "an action")
                return Action(token.pos, pipe)
            case "if" | "with":
                return self.branch(token, word)
            case "range":
                return self.loop(token)
            case "break" | "continue":
                if not self.loops:
                    raise self.refuse(f"{word} outside a range", "remove it", token)
                self.close(word)
                return Jump(token.pos, word)
            case "template" | "block" if self.whole:
                return self.invocation(token, word)
            case "else":
                raise self.refuse("a second else in one block", "close the block by {{ end }} first", token)
            case _:
                fix = "write the text where it is used; a template is one resource"
                raise self.refuse(f"{word} is outside the subset of Go templates", fix, token)

    def define(self, token: Token) -> None:
        """A named template; it stands at the top, and sees no variables but its own."""
        if self.depth > 1:
            raise self.refuse("define is inside a block", "move it to the top of the template", token)
        name = self.name("define")
        self.close("define")
        self.body(name)

    def invocation(self, token: Token, word: str) -> Invocation:
        """`template`, or `block`, which names a template where it is used."""
        name = self.name(word)
        pipe = None
        if self.skip_spaces().kind == "close" and word == "template":
            self.next()
        else:
            pipe = self.pipe("close", word)
        if word == "block":
            self.body(name)
        return Invocation(token.pos, name, pipe)

    def name(self, word: str) -> str:
        token = self.skip_spaces()
        if token.kind not in ("string", "raw"):
            raise self.refuse(f"{word} needs the name of a template", f'write {word} "name"', token)
        self.next()
        return golex.unquoted(token.text) if token.kind == "string" else token.text[1:-1]

    def body(self, name: str) -> None:
        """The nodes of a named template, up to its end; as in Go, an empty one does not replace another."""
        scope, loops = self.scope, self.loops
        self.scope, self.loops = ["$"], 0
        block, _ = self.block(frozenset({"end"}))
        self.close("end")
        self.scope, self.loops = scope, loops
        if name not in self.named or any(not isinstance(n, Text) or n.text.strip() for n in block):
            self.named[name] = block

    def branch(self, token: Token, keyword: str) -> Branch:
        outer = len(self.scope)
        branches: list[tuple[Pipe, Block]] = []
        otherwise: Block = ()
        ending = "else"
        while ending == "else":
            pipe = self.pipe("close", keyword)
            body, ending = self.block(frozenset({"end", "else"}))
            branches.append((pipe, body))
            if ending == "else":
                follows = self.skip_spaces()
                if follows.kind == "word" and follows.text == keyword:
                    self.next()
                    continue
                self.close("else")
                otherwise, ending = self.block(frozenset({"end"}))
        self.close("end")
        del self.scope[outer:]
        return Branch(token.pos, keyword, tuple(branches), otherwise)

    def loop(self, token: Token) -> Range:
        outer = len(self.scope)
        pipe = self.pipe("close", "range")
        self.loops += 1
        body, ending = self.block(frozenset({"end", "else"}))
        self.loops -= 1
        otherwise: Block = ()
        if ending == "else":
            self.close("else")
            otherwise, _ = self.block(frozenset({"end"}))
        self.close("end")
        del self.scope[outer:]
        return Range(token.pos, pipe, body, otherwise)

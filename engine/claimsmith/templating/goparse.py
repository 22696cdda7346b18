"""A Go template's text in, its tree out; what is outside the subset is refused here, with its place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from claimsmith.templating import golex, limits
from claimsmith.templating.goast import Action, Block, Branch, Jump, Node, Pipe, Range, Text
from claimsmith.templating.goexpr import PipelineParser
from claimsmith.templating.golex import Token
from claimsmith.templating.problems import Finding, Place, raised_at


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template, and what was accepted with a warning."""

    block: Block
    place: Place
    warnings: tuple[Finding, ...] = ()


@lru_cache(maxsize=256)
def parse(text: str, file: str = "template") -> Tree:
    """The tree of a template."""
    limits.refuse_long(text)
    place = Place(text, file)
    parser = _Parser(place, golex.tokens(place))
    with raised_at():
        block, _ = parser.block(frozenset({"end"}))
    return Tree(block, place, tuple(parser.warnings))


class _Parser(PipelineParser):
    """One pass over the tokens."""

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
            case "else":
                raise self.refuse("a second else in one block", "close the block by {{ end }} first", token)
            case _:
                fix = "write the text where it is used; a template is one resource"
                raise self.refuse(f"{word} is outside the subset of Go templates", fix, token)

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

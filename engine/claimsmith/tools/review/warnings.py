"""The warnings of a change, the most severe first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from claimsmith.base import fieldpath
from claimsmith.base.errors import Source
from claimsmith.base.labels import ADOPT, IMPORT, PREVIOUS_API_VERSION
from claimsmith.base.names import GroupKind, is_native
from claimsmith.base.values import object_at
from claimsmith.compose.connections import Connection
from claimsmith.compose.identity import is_adopting
from claimsmith.compose.plan import Plan, PlannedClaim
from claimsmith.providers.package_schema import Effect, PackageSchema
from claimsmith.tools.review.access import powers, widened
from claimsmith.tools.review.causes import place_of
from claimsmith.tools.review.changes import UNKNOWN, Level, Op, ReviewWarning
from claimsmith.tools.review.compare import Comparison, effect_on, immutability
from claimsmith.tools.review.resources import PlannedResource

Rule = Callable[[Comparison], Iterator[ReviewWarning]]


def warnings_of(comparison: Comparison) -> tuple[ReviewWarning, ...]:
    """All warnings of an environment: by loudness, then in the order of the rules and of the claims."""
    return in_order([w for rule in RULES for w in rule(comparison)])


def in_order(found: Sequence[ReviewWarning]) -> tuple[ReviewWarning, ...]:
    """Warnings by severity; equals in their original order."""
    loudness = list(Level)
    return tuple(sorted(dict.fromkeys(found), key=lambda w: loudness.index(w.level)))


def _same_identity(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Deleted and created under one identity: the engine merges the new into the live object, then deletes it."""
    for pair in comparison.all():
        lost = comparison.lost.get(pair.new.urn) if pair.new and pair.old is None else None
        if lost is None or pair.new is None or lost.old is None:
            continue
        new, old = _who(pair.new, lost.old), _who(lost.old, pair.new)
        if lost.op is Op.retained:
            what = f"{_object(pair.new)} is left behind by {old} and taken over by {new}"
            yield _of(pair.new, "identity-taken-over", Level.note, what, "check that nothing else deletes it")
            continue
        what = (
            f"{_object(pair.new)} would be lost: {new} is merged into the live object under another URN, "
            f"then the URN of {old} is deleted, and the object with it"
        )
        fix = "keep the apiVersion and the template's name; or name the old ones: previousName or Moved, "
        fix += f"the annotation {PREVIOUS_API_VERSION} on it"
        yield _of(pair.new, "identity-lost", Level.danger, what, fix)


def _data_lost(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Deletion or replacement of something that holds data, unless a more severe warning reports it already."""
    lost = {p.resource.urn for p in comparison.lost.values()}
    for pair in comparison.all():
        resource = pair.old
        if (
            resource is None
            or resource.held
            or resource.urn in lost
            or not comparison.new.kinds.holds_data(resource.kind)
        ):
            continue
        if pair.op is Op.deleted:
            fix = "set reclaimPolicy: Retain and deploy that before you remove it; or take a backup first"
            yield _of(resource, "data-deleted", Level.danger, f"{_object(resource)} holds data and is deleted", fix)
        elif pair.op is Op.replaced and not resource.options.retain:
            fix = "keep the old values of the fields that replace it, or move the data first"
            yield _of(resource, "data-replaced", Level.danger, f"{_object(resource)} holds data and is replaced", fix)


def _unchangeable(comparison: Comparison) -> Iterator[ReviewWarning]:
    """A field that the provider's definition, or a table, does not let change."""
    for pair in comparison.all():
        if pair.old is None or pair.new is None:
            continue
        for difference in pair.found:
            reason = immutability(pair, difference, comparison.new)
            if not reason:
                continue
            text = fieldpath.to_text(difference.path)
            what = f"{_object(pair.new)}: {text} cannot be changed once it exists ({reason})"
            fix = "restore the value; or add another claim or template, and move the data"
            level = Level.danger if comparison.new.kinds.holds_data(pair.new.kind) else Level.warning
            yield _of(pair.new, "immutable-field", level, what, fix)


def _replacement_unknown(comparison: Comparison) -> Iterator[ReviewWarning]:
    """A change of a native resource of which its provider does not say whether it replaces it."""
    for pair in comparison.all():
        if pair.old is None or pair.new is None or pair.op not in (Op.updated, Op.settings):
            continue
        if not is_native(pair.new.document):
            continue
        side = comparison.new
        unknown = [d.path for d in pair.found if effect_on(pair.new, d.path, side) is Effect.unknown]
        if not unknown:
            continue
        listed = ", ".join(map(fieldpath.to_text, unknown))
        package = str(pair.new.document["type"]).partition(":")[0]
        why = _silence(package, side.package_schema(package))
        what = f"{_object(pair.new)} is updated or replaced by the change of {listed}: {why}"
        level = Level.warning if side.kinds.holds_data(pair.new.kind) else Level.note
        fix = "ask the provider: claimsmith review --preview; or list what replaces it in components/review.yaml"
        yield _of(pair.new, UNKNOWN, level, what, fix)


def _immutability_unknown(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Kinds of managed resources of which nothing says which fields can be changed in place: each once."""
    side = comparison.new
    changed: dict[GroupKind, dict[str, PlannedResource]] = {}
    for pair in comparison.all():
        if pair.old is None or pair.new is None or pair.op is not Op.updated or is_native(pair.new.document):
            continue
        kind, child = pair.new.kind, pair.new.child
        managed = child.template.managed if child else kind in side.catalog.managed
        if managed and not any(kind in known for known in (side.kinds.immutable, side.kinds.replaced, side.rules)):
            paths = [fieldpath.to_text(d.path) for d in pair.found if d.path[:1] == ("spec",)]
            changed.setdefault(kind, {}).update((path, pair.new) for path in paths)
    for kind, fields in changed.items():
        if fields:
            what = (
                f"immutability unknown for {kind}: the provider may refuse or ignore the change of {_some([*fields])}"
            )
            added = "" if kind in side.catalog.seen else "; or add its definition: claimsmith crds add"
            fix = f"list the fields that it cannot change, or none, in components/review.yaml{added}"
            level = Level.warning if side.kinds.holds_data(kind) else Level.note
            yield ReviewWarning(UNKNOWN, level, what, "", str(kind), place_of(next(iter(fields.values()))), fix)


def _silence(package: str, schema: PackageSchema | None) -> str:
    if schema is None:
        return f"the plugin of {package} is not installed here"
    return f"the schema of {package} does not say which"


def _moved(comparison: Comparison) -> Iterator[ReviewWarning]:
    """A claim that moves to another class, or an application to another target."""
    before = {c.address: c for c in comparison.old.plan.walk()}
    for claim in comparison.new.plan.walk():
        old = before.get(claim.address)
        if old and old.binding.klass.key != claim.binding.klass.key:
            what = f"{claim.address} moves from {old.binding.klass.key} to {claim.binding.klass.key}"
            fix = "check that what must live on is listed as staying; declare templates of other names beside the class"
            yield _claim_of(claim, "binding-moves", what, fix)
    placed = {w.address: w.placement for w in comparison.old.plan.workloads}
    for workload in comparison.new.plan.workloads:
        was = placed.get(workload.address)
        if was and was.target.cluster.identity != workload.placement.target.cluster.identity:
            what = f"{workload.address} moves from {was.target_key} to {workload.placement.target_key}, another cluster"
            where = workload.placement.application.document.source_of()
            fix = "its resources are deleted there and created here: move the data first"
            address = workload.address
            yield ReviewWarning("binding-moves", Level.warning, what, address, "", where, fix, address)


def _unserved(comparison: Comparison) -> Iterator[ReviewWarning]:
    """A claim that had a class and has none now, or a new one that nothing serves."""
    before = {u.claim.key for u in comparison.old.plan.unbound}
    for unbound in comparison.new.plan.unbound:
        address, problem = str(unbound.claim.key), unbound.problem
        if unbound.claim.key in before:
            continue
        lost = address in comparison.old.claims
        what = f"{address} {'loses its class' if lost else 'has no class'}: {problem.what}"
        level = Level.danger if lost else Level.warning
        yield ReviewWarning("claim-unserved", level, what, address, "", problem.where, problem.fix, address)


def _deleting(comparison: Comparison) -> Iterator[ReviewWarning]:
    """A reclaim policy that deletes where it kept, or protection that ends."""
    for pair in comparison.all():
        if pair.old is None or pair.new is None:
            continue
        old, new = pair.old.options, pair.new.options
        data = comparison.new.kinds.holds_data(pair.new.kind)
        if old.retain and not new.retain:
            what = (
                f"{_object(pair.new)} was retained when its claim is deleted; from now on it is deleted with the claim"
            )
            level = Level.warning if data else Level.note
            yield _of(pair.new, "reclaim-deletes", level, what, "let its reclaimPolicy be Retain")
        if old.protect and not new.protect:
            what = f"{_object(pair.new)} was protected, and is no longer"
            yield _of(pair.new, "protection-ends", Level.note, what, "annotate it with claimsmith.io/protect")


def _refused(comparison: Comparison) -> Iterator[ReviewWarning]:
    """What is protected and would go: the engine refuses."""
    for pair in comparison.all():
        if pair.op in (Op.deleted, Op.replaced) and pair.old and pair.old.options.protect:
            what = f"{_object(pair.old)} is protected: the engine refuses to delete it, and the run fails"
            yield _of(pair.old, "protected", Level.warning, what, "remove the protection and deploy that first")


def _keys_missing(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Keys that a claim's Secret had, or that its kind promises, and that nothing delivers."""
    before = {c.address: c for c in comparison.old.plan.walk()}
    for claim in comparison.new.plan.walk():
        old = before.get(claim.address)
        if not _has_secret(claim) or claim.binding.klass.static:
            continue
        delivered = _keys(claim.connection) if claim.connection else set()
        wanted = dict.fromkeys(claim.binding.klass.contract, "its kind declares it")
        was = _keys(old.connection) if old and old.connection else None
        wanted |= dict.fromkeys(was or (), "it had it before")
        for key, why in wanted.items():
            if delivered is not None and key not in delivered:
                what = f"the Secret of {claim.address} will have no key {key!r} ({why})"
                fix = f"add to a template the connection detail {key}"
                yield _claim_of(claim, "secret-key-missing", what, fix)
        yield from _sources_missing(claim, old)


def _sources_missing(claim: PlannedClaim, old: PlannedClaim | None) -> Iterator[ReviewWarning]:
    """Secrets whose keys are unknown here and that are no longer a source."""
    if old is None or old.connection is None or not _has_secret(claim):
        return
    now = {s.child for s in claim.connection.sources} if claim.connection else set()
    for source in old.connection.sources:
        if source.child not in now and source.keys is None:
            what = f"the Secret of {claim.address} will no longer have the keys of {source.child!r} ({source.kind})"
            fix = "add a resource with the same connection keys to the class"
            yield _claim_of(claim, "secret-key-missing", what, fix, part=source.child)


def _has_secret(claim: PlannedClaim) -> bool:
    """Whether a claim has a Secret, or asks for one that it does not get since its class has no details."""
    return claim.connection is not None or bool(claim.binding.claim.secret_name)


def _accounts(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Children that another service account creates."""
    moved: dict[tuple[str, str, str], Source] = {}
    for pair in comparison.all():
        if pair.old and pair.new and pair.old.account != pair.new.account and pair.new.planned:
            by = pair.new.planned.binding.klass
            moved.setdefault((str(by.key), pair.old.account, pair.new.account), by.document.source_of("spec"))
    for (klass, old, new), where in moved.items():
        fix = "see what the account may do: kubectl auth can-i --list --as system:serviceaccount:NAMESPACE:NAME"
        if not new:
            what = f"what {klass} composes was created as {old}, and is now created with the stack's own permissions"
            yield ReviewWarning("account-widened", Level.warning, what, "", "", where, "name a service account again")
        else:
            what = f"what {klass} composes was created as {old or 'the stack itself'}, and is now created as {new}"
            level = Level.warning if old else Level.note
            yield ReviewWarning("account-moves", level, what, "", "", where, fix)


def _rights(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Roles and their bindings that allow more than before."""
    for pair in comparison.all():
        if pair.new is None or pair.op is Op.same:
            continue
        more = widened(pair.old.document if pair.old else None, pair.new.document)
        great = [power for power in powers(pair.new.document) if power in more]
        if great:
            what = f"{_object(pair.new)} grants unlimited permissions: {_some(great)}"
            yield _of(pair.new, "rights-unlimited", Level.danger, what, "grant only the permissions that are used")
        elif more and pair.old:
            what = f"{_object(pair.new)} allows more than before: {_some(more)}"
            yield _of(pair.new, "rights-widened", Level.warning, what, "grant only the permissions that are used")


def _unread(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Fields of claims that nothing reads, changed or not: otherwise they stay unnoticed."""
    for problem in comparison.new.plan.unread.warnings:
        claim = problem.what.partition(": ")[0]
        what, where, fix = problem.what, problem.where, problem.fix
        yield ReviewWarning("claim-field-unread", Level.warning, what, claim, where=where, fix=fix, subject=claim)


def _some(words: Sequence[str]) -> str:
    return "; ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")


def _adopting(comparison: Comparison) -> Iterator[ReviewWarning]:
    """Objects that the stack adopts from now on, whoever created them."""
    before = {(claim, what) for claim, what, _ in _adopted(comparison.old.plan)}
    for claim, what, where in _adopted(comparison.new.plan):
        if (claim, what) not in before:
            what_happens = f"{what} is adopted, whoever created it: it is changed, and deleted with the stack"
            fix = f"check who created it; without {ADOPT} or {IMPORT} nothing of another owner is taken"
            yield ReviewWarning("adopts", Level.warning, what_happens, claim, "", where, fix, what)


def _adopted(plan: Plan) -> Iterator[tuple[str, str, Source]]:
    """Each object that a plan would take over: the new owner, the object, and the place that adopts it."""
    path = ("metadata", "annotations", ADOPT)
    for claim in plan.walk():
        document = claim.binding.claim.document
        if is_adopting(document.data) and claim.connection:
            secret = claim.connection
            yield claim.address, f"Secret {secret.namespace}/{secret.name}", document.source_of(path)
        for child in (c for c in claim.children if c.template.native):
            taken = object_at(child.document, "options").get("import")
            if taken:
                at = document.source_of(("metadata", "annotations", IMPORT))
                yield claim.address, f"{child.template.kind} {taken}", at
        for child in (c for c in claim.children if is_adopting(c.template.base)):
            source = child.template.document or claim.binding.klass.document
            place = f"{child.namespace}/{child.name}" if child.namespace else child.name
            yield claim.address, f"{child.template.kind} {place}", source.source_of(child.template.at)
    for workload in plan.workloads:
        application = workload.placement.application
        whole = is_adopting(application.data)
        for resource in workload.resources:
            if whole or resource.template.annotations.get(ADOPT) == "true":
                metadata = resource.document["metadata"]
                place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
                cluster = workload.placement.target.cluster.identity
                what = f"{resource.document['kind']} {place}{metadata['name']} in {cluster}"
                yield workload.address, what, application.document.source_of(path)
    for provided in plan.resources:
        if is_adopting(provided.document):
            yield "", str(provided.key), Source(f"stacks/{plan.stack}/resources")


def _keys(secret: Connection) -> set[str] | None:
    """The keys that a Secret will have; None where a source brings whatever it has."""
    if any(s.keys is None for s in secret.sources):
        return None
    keys = {f"{s.prefix}{name}" for s in secret.sources for name in s.key_names}
    return keys & set(secret.only) if secret.only else keys


def _of(resource: PlannedResource, rule: str, level: Level, what: str, fix: str) -> ReviewWarning:
    place = place_of(resource)
    return ReviewWarning(rule, level, what, resource.claim, resource.part, place, fix, _object(resource))


def _object(resource: PlannedResource) -> str:
    metadata = resource.document["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    where = f" in {resource.cluster}" if resource.cluster else ""
    return f"{resource.kind.kind} {place}{metadata['name']}{where}"


def _who(resource: PlannedResource, other: PlannedResource) -> str:
    """What composes an object, as far as it differs from the other."""
    template = resource.part if resource.claim == other.claim else f"{resource.claim or 'the stack'}/{resource.part}"
    version = str(resource.document.get("apiVersion", ""))
    return f"{template} of {version}" if version != other.document.get("apiVersion", "") else template


def _claim_of(claim: PlannedClaim, rule: str, what: str, fix: str, *, part: str = "") -> ReviewWarning:
    """A warning about a claim, at its place in the stack's files."""
    where = claim.binding.claim.document.source_of()
    return ReviewWarning(rule, Level.warning, what, claim.address, part, where, fix, claim.address)


RULES: tuple[Rule, ...] = (
    _same_identity,
    _unserved,
    _data_lost,
    _unchangeable,
    _replacement_unknown,
    _immutability_unknown,
    _refused,
    _adopting,
    _moved,
    _deleting,
    _keys_missing,
    _accounts,
    _rights,
    _unread,
)

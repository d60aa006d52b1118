"""From the name of a rule to the rule: the only place where kinds of rules are told apart."""

from inspect import isabstract
from typing import Final, Literal

from causalfocus.errors import InvalidInputError
from causalfocus.guarantees.class_ import ClassRule
from causalfocus.guarantees.gaussian import GaussianRule
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.paper import PaperRule
from causalfocus.guarantees.randomized import RandomizedRule
from causalfocus.system.action_set import ActionSet
from causalfocus.system.choices import Ends
from causalfocus.system.question import About, Question
from causalfocus.system.sizes import Accuracy
from causalfocus.system.space import ModelClass

RuleName = Literal["randomized", "gaussian", "class", "paper"]

Rule = RuleName | str | type[Guarantee]
"""One of the names, or a rule of your own."""

RULES: Final[dict[str, type[Guarantee]]] = {
    kind.name: kind for kind in (RandomizedRule, GaussianRule, ClassRule, PaperRule)
}
"""What each assumes more than the one before it."""

DEFAULT_RULE: Final = "randomized"
"""What is assumed where nobody says: nothing that an experimenter cannot control."""


def guarantee_of(
    rule: Rule,
    actions: ActionSet,
    space: ModelClass,
    *,
    epsilon: Accuracy | None,
    delta: float = 0.05,
    ends: Ends | None = None,
    about: About | Question | None = None,
) -> Guarantee:
    """The rule of a name, for some actions, accuracy and confidence.

    Parameters
    ----------
    rule : a name, or a class that is a `Guarantee`
    actions, space : what can be done, and what matters
    epsilon, delta : accuracy and confidence; checked. No epsilon is half of what matters
    ends : who picks the ends of the ranges, "coin" or "game"; None for what the rule does by itself
    about : what is asked, see `Focus`; None for all direct effects
    """
    kind = RULES.get(rule) if isinstance(rule, str) else rule
    if isinstance(kind, type) and issubclass(kind, Guarantee) and not isabstract(kind):
        known = space.on(actions)
        asked = about if isinstance(about, Question) else Question.of(about, actions.names)
        found = kind(actions, known, known.checked_epsilon(epsilon), delta, ends, about=asked)
        found.accuracies  # noqa: B018 - what is wrong with sizes by pair is said here
        return found
    names = ", ".join(map(repr, RULES))
    raise InvalidInputError(
        f"rule must be one of {names}, or a class that is a Guarantee; got {rule!r}."
    )

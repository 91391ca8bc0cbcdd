"""All audits by name, in the order of the page. A new audit is one file in this folder and one line below."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from beholder.audit.composition import audit_composition
from beholder.audit.cost import audit_cost
from beholder.audit.counterfactual import audit_counterfactual
from beholder.audit.filtering import audit_filter
from beholder.audit.finding import Finding
from beholder.audit.from_board import audit_contamination, audit_drift, audit_fragility, audit_saturation
from beholder.audit.label_errors import audit_label_errors
from beholder.audit.material import Material
from beholder.audit.perception import audit_perception
from beholder.audit.profiles import audit_profiles
from beholder.audit.robustness.run import audit_robustness
from beholder.audit.shift import audit_shift
from beholder.audit.slice_gap import audit_slice_gap


@dataclass(frozen=True, slots=True)
class Audit:
    """A question to a study, and the function that answers it."""

    about: str
    look: Callable[[Material], Iterator[Finding]]


AUDITS: dict[str, Audit] = {
    "slice-gap": Audit(
        "Which prompts is an entry worse on: counts, colours, relations, text, a style?", audit_slice_gap
    ),
    "composition": Audit(
        "Do results fall with the number of atoms, and on pairs that are new together?", audit_composition
    ),
    "shift": Audit("Do results hold on fresh prompts, and from one style to another?", audit_shift),
    "counterfactual": Audit(
        "The same prompt but for who is in it: is one group rated worse?", audit_counterfactual
    ),
    "perception": Audit("What do people see in the images of each entry, tones and all?", audit_perception),
    "filter": Audit("Whose prompts does a word list, or a generator's refusal, remove?", audit_filter),
    "scorer-robustness": Audit("Does a scorer move when it should not, and not when it should?", audit_robustness),
    "label-errors": Audit("Does the board change without labels that are likely errors?", audit_label_errors),
    "contamination": Audit("Do entries lead more on public prompts than on held-out ones?", audit_contamination),
    "fragility": Audit("How few prompts, or raters, carry each separation?", audit_fragility),
    "drift": Audit("Does a metric rate newer entries ever higher than people do?", audit_drift),
    "saturation": Audit("Can the measures still separate the best entries?", audit_saturation),
    "cost": Audit("What do answers, images and decisions cost, and who is worth it?", audit_cost),
    "profiles": Audit("Which entry would an artist choose, an advertiser, a researcher?", audit_profiles),
}
"""Name of an audit -> what it asks, and what looks."""

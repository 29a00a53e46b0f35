"""What the vocabulary knows of a requirement that another engine found."""

from discovery.contracts import ProfileDocument
from scoring.builtin import facts
from scoring.builtin.profile_index import build_profile_index
from scoring.builtin.roles import find_title_skills
from scoring.builtin.skill_match import find_skill
from scoring.builtin.vocabulary import find_skills, is_soft_skill, load_vocabulary
from scoring.contracts import Fit, Kind


def find_terms(text: str, *, kind: str) -> tuple[str, ...]:
    """The canonical names that matching goes by, as extraction gives them for this kind."""
    match kind:
        case Kind.ROLE:
            return find_title_skills(text)
        case Kind.LANGUAGE:
            return facts.find_languages(text, needs_cue=False)
        case Kind.SKILL | Kind.EXPERIENCE | Kind.DUTY:
            skills = find_skills(text)
            return tuple(name for name in skills if not is_soft_skill(name)) or skills
    return ()


def is_shown_nowhere(terms: tuple[str, ...], profile: ProfileDocument) -> bool:
    """Every one of these names is a skill that the profile shows neither itself nor by a related one."""
    known = load_vocabulary().entries
    if not terms or any(name not in known or is_soft_skill(name) for name in terms):
        return False
    index = build_profile_index(profile)
    return all(find_skill(index, name).fit is Fit.MISSING for name in terms)

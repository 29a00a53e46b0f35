"""The contact line shared by both documents."""

from discovery.contracts import ProfileDocument
from materials.contracts import ContactLine
from materials.grounding.facts import make_phone_href, shorten_url


def list_contacts(profile: ProfileDocument) -> tuple[ContactLine, ...]:
    place = ", ".join(part for part in (profile.city, profile.region or profile.country_code) if part)
    contacts = [ContactLine(place)] if place else []
    if profile.email:
        contacts.append(ContactLine(profile.email, f"mailto:{profile.email}"))
    if profile.phone:
        contacts.append(ContactLine(profile.phone, make_phone_href(profile.phone)))
    urls = dict.fromkeys(url for url in (profile.url, *(link.url for link in profile.links)) if url)
    contacts += [ContactLine(shorten_url(url), url) for url in urls]
    return tuple(contacts)

"""The skills vocabulary: aliases, words that are only sometimes a skill, and what is close to what."""

import pytest

from scoring.builtin import find_skills, related_skills
from scoring.builtin.vocabulary import list_implied_skills, load_vocabulary


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k8s and psql", ("Kubernetes", "PostgreSQL")),
        ("Postgres, GCP, JS", ("PostgreSQL", "Google Cloud", "JavaScript")),
        ("Golang services with RESTful APIs", ("Go", "REST APIs")),
        ("C/C++, C# and .NET Core", ("C", "C++", "C#", ".NET")),
        ("Node.js and Vue.js", ("Node.js", "Vue")),
        ("CI/CD with GitHub Actions", ("CI/CD", "GitHub Actions")),
        ("Python, Go, R and Rust", ("Python", "Go", "R", "Rust")),
        ("writing production Go", ("Go",)),
        ("Backend work (Go)", ("Backend Development", "Go")),
        ("Apache Spark or Spark SQL", ("Apache Spark",)),
        ("Strong Excel and PowerPoint", ("Microsoft Excel", "Microsoft Office")),
        ("cold calling in Salesforce against a quota", ("Prospecting", "Salesforce", "Quota Attainment")),
        ("Pythonとの開発、看護師", ("Python", "Nursing")),
        ("s Pythonem v Dockeru", ("Python", "Docker")),
    ],
)
def test_it_finds_skills_by_any_of_their_names(text: str, expected: tuple[str, ...]) -> None:
    assert find_skills(text) == expected


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("We go to market together", "Go"),
        ("Go to market strategy", "Go"),
        ("Go above and beyond", "Go"),
        ("ready to go", "Go"),
        ("our R&D team", "R"),
        ("R&D using Python", "R"),
        ("the rest of the team", "REST APIs"),
        ("The REST of the team", "REST APIs"),
        ("You excel at details", "Microsoft Excel"),
        ("Excel at what you do", "Microsoft Excel"),
        ("a Spark of joy", "Apache Spark"),
        ("C-level stakeholders of a Series C company", "C"),
        ("Swift response to customers", "Swift"),
        ("lead the team", "Team Leadership"),
        ("You react quickly", "React"),
        ("Spring 2027 internship", "Spring"),
        ("Express your interest", "Express"),
        ("an active TS/SCI clearance", "TypeScript"),
        ("net result", ".NET"),
        ("javascripting", "JavaScript"),
    ],
)
def test_it_leaves_the_other_meanings_of_a_word_alone(text: str, absent: str) -> None:
    assert absent not in find_skills(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("go", "Go"), ("R", "R"), ("excel", "Microsoft Excel"), ("REST", "REST APIs")]
)
def test_it_takes_a_bare_entry_of_a_skill_list_for_the_skill(text: str, expected: str) -> None:
    assert find_skills(text) == (expected,)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Flask", "Django"),
        ("FastAPI", "Django"),
        ("MySQL", "PostgreSQL"),
        ("AWS", "Google Cloud"),
        ("Azure", "AWS"),
        ("Kafka", "RabbitMQ"),
        ("React", "Vue"),
        ("Jenkins", "GitHub Actions"),
    ],
)
def test_it_knows_which_skills_are_close_in_both_directions(one: str, two: str) -> None:
    assert two in related_skills(one)
    assert one in related_skills(two)


def test_it_knows_what_a_skill_implies() -> None:
    assert "Python" in list_implied_skills("Django")
    assert "SQL" in list_implied_skills("PostgreSQL")
    assert "JavaScript" in list_implied_skills("Next.js")


def test_it_has_no_relation_for_an_unknown_name() -> None:
    assert related_skills("Basket weaving") == ()


def test_it_ships_a_vocabulary_of_some_width_whose_links_all_exist() -> None:
    vocabulary = load_vocabulary()

    assert 350 <= len(vocabulary.entries) <= 500
    assert {"soft", "sales", "healthcare", "logistics", "finance", "design"} <= {
        entry.group for entry in vocabulary.entries.values()
    }
    for entry in vocabulary.entries.values():
        assert set(entry.related) | set(entry.implies) <= set(vocabulary.entries)

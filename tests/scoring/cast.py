"""The cast of the scoring tests: one candidate and the postings she may be scored against."""

from dataclasses import dataclass
from datetime import date

from discovery.contracts import Bullet, Credential, Education, Experience, ProfileDocument, Skill

TODAY = date(2026, 9, 1)


def make_backend_engineer() -> ProfileDocument:
    """Eight years of Python, Django, PostgreSQL and AWS: 2018-09 at Lakeside, then Northwind since 2021-06."""
    skills = (
        "Python",
        "Django",
        "PostgreSQL",
        "AWS",
        "Docker",
        "Redis",
        "Celery",
        "REST APIs",
        "Git",
        "GitHub Actions",
        "Terraform",
    )
    return ProfileDocument(
        name="Mara Lindqvist",
        label="Senior Backend Engineer",
        summary="Backend engineer with eight years of building payment and booking services in Python and Django.",
        country_code="DE",
        experience=(
            Experience(
                id="exp-northwind",
                kind="work",
                organization="Northwind",
                position="Senior Backend Engineer",
                start="2021-06",
                bullets=(
                    Bullet(
                        "nw-1",
                        "Designed and built a Django REST API for payments that serves 40 million requests a day.",
                    ),
                    Bullet("nw-2", "Moved a monolith to eight services on AWS ECS with Docker and Terraform."),
                    Bullet("nw-3", "Cut PostgreSQL query time by 60% through indexing and query optimization."),
                    Bullet("nw-4", "Mentored three junior developers and led code reviews."),
                    Bullet("nw-5", "Introduced RabbitMQ and Celery for background jobs with retries."),
                ),
            ),
            Experience(
                id="exp-lakeside",
                kind="work",
                organization="Lakeside Travel",
                position="Backend Developer",
                start="2018-09",
                end="2021-05",
                bullets=(
                    Bullet("ls-1", "Built booking services in Python and Django backed by PostgreSQL and Redis."),
                    Bullet("ls-2", "Wrote unit and integration tests with pytest and set up CI with GitHub Actions."),
                    Bullet("ls-3", "Worked with product and support in an Agile team of six."),
                ),
            ),
        ),
        skills=tuple(Skill(f"sk-{index}", name) for index, name in enumerate(skills)),
        education=(Education("edu-1", "TU Berlin", "Computer Science", "Bachelor of Science", "2014", "2018"),),
        credentials=(
            Credential("lang-en", "language", "English", "Fluent"),
            Credential("lang-sv", "language", "Swedish", "Native"),
            Credential("cert-aws", "certificate", "AWS Certified Developer Associate", "Amazon"),
        ),
    )


def make_account_executive() -> ProfileDocument:
    return ProfileDocument(
        name="Sol Okafor",
        experience=(
            Experience(
                id="e1",
                kind="work",
                organization="Brightdesk",
                position="Account Executive",
                start="2021-02",
                bullets=(
                    Bullet("b1", "Closed EUR 1.4m of new business in 2024, 118% of quota."),
                    Bullet("b2", "Built own pipeline by cold calling; kept it in Salesforce."),
                    Bullet("b3", "Ran demos and negotiated contracts with finance directors."),
                ),
            ),
        ),
        skills=(Skill("s1", "Salesforce"), Skill("s2", "Negotiation"), Skill("s3", "MEDDIC")),
        credentials=(Credential("l1", "language", "English", "Fluent"),),
    )


def make_nurse() -> ProfileDocument:
    return ProfileDocument(
        name="Ines Duarte",
        experience=(
            Experience(
                id="e1",
                kind="work",
                organization="St. Mary Hospital",
                position="Registered Nurse, ICU",
                start="2020-01",
                bullets=(
                    Bullet("b1", "Cared for up to two critical patients per shift in a 24-bed ICU."),
                    Bullet("b2", "Administered medications and IV therapy; charted in Epic EHR."),
                ),
            ),
        ),
        education=(Education("ed1", "State University", "Nursing", "Bachelor of Science"),),
        credentials=(
            Credential("c1", "certificate", "RN License, Texas", "Board of Nursing"),
            Credential("c2", "certificate", "BLS and ACLS", "AHA"),
        ),
    )


def make_picker() -> ProfileDocument:
    return ProfileDocument(
        name="Wim Peeters",
        experience=(
            Experience(
                id="e1",
                kind="work",
                organization="Kargo",
                position="Warehouse Associate",
                start="2022-01",
                bullets=(
                    Bullet("b1", "Picked and packed 300 orders per shift with an RF scanner."),
                    Bullet("b2", "Drove a forklift and loaded trucks."),
                ),
            ),
        ),
        skills=(Skill("s1", "Inventory control"),),
    )


@dataclass(frozen=True, slots=True)
class Opening:
    family: str  # "backend" | "near" | "far"
    title: str
    description: str


BACKEND = Opening(
    "backend",
    "Senior Backend Engineer (Python)",
    """Fernhill builds booking software for small hotels in eleven countries.

What you'll do
- Design, build and operate REST APIs in Python and Django
- Improve the performance of our PostgreSQL databases
- Review code and mentor junior developers
- Work with product managers to shape the roadmap

Requirements
- 5+ years of experience in backend development
- Strong knowledge of Python and Django or Flask
- Experience with PostgreSQL and Redis
- Experience with AWS and Docker
- Good understanding of automated testing
- Excellent communication skills in English

Nice to have
- Experience with Kafka or RabbitMQ
- Kubernetes

What we offer
- 30 vacation days
- Kubernetes conference budget
""",
)
FINTECH = Opening(
    "backend",
    "Software Engineer, Payments",
    """About the role
You will join the team that moves money for 200,000 merchants.

You will
- Build reliable payment services in Python
- Own services from design to production, including on-call
- Design database schemas and APIs used by other teams

You have
- 4+ years of professional software engineering experience
- Proficiency in Python, Java or Go
- Experience with relational databases such as PostgreSQL or MySQL
- Experience building distributed systems and microservices in the cloud (AWS, GCP or Azure)
- Bachelor's degree in Computer Science or equivalent experience

Bonus points
- Experience with event-driven architecture
- Experience at a fintech company
""",
)
DJANGO_DE = Opening(
    "backend",
    "Python Entwickler (m/w/d)",
    """Deine Aufgaben
- Entwicklung von Web-Anwendungen mit Python und Django
- Konzeption von REST-APIs
- Code Reviews

Dein Profil
- Mindestens 3 Jahre Erfahrung mit Python
- Gute Kenntnisse in Django und PostgreSQL
- Erfahrung mit Docker und CI/CD
- Fließende Englischkenntnisse

Wir bieten
- 30 Tage Urlaub
""",
)
GO_BACKEND = Opening(
    "near",
    "Backend Engineer (Go)",
    """Requirements
- 5+ years of experience writing production Go
- Deep knowledge of gRPC, Kafka and Kubernetes
- PostgreSQL
- Experience with Prometheus and Grafana
""",
)
SRE = Opening(
    "near",
    "Site Reliability Engineer",
    """Responsibilities
- Keep our Kubernetes clusters healthy
- Improve monitoring and alerting
- Take part in incident response

Qualifications
- 4+ years of experience in SRE or DevOps
- Deep knowledge of Kubernetes and Linux
- Infrastructure as code with Terraform
- Monitoring with Prometheus and Grafana
- Scripting in Python or Bash
- Experience with AWS
""",
)
DATA = Opening(
    "near",
    "Data Engineer",
    """What you will do
- Build data pipelines with Airflow and Spark
- Model data in Snowflake with dbt

What you bring
- 3+ years as a data engineer
- Strong SQL and Python
- Experience with Spark, Airflow and dbt
- Experience with Snowflake or BigQuery
- Knowledge of data modelling and data quality
""",
)
FRONTEND = Opening(
    "near",
    "Frontend Developer",
    """Requirements
- 3+ years of experience with React and TypeScript
- Excellent CSS and HTML
- Experience with accessibility (WCAG)
- Experience with Jest and Cypress
- Familiarity with REST APIs
""",
)
SALES = Opening(
    "far",
    "Account Executive",
    """What you will do
- Run full sales cycles from prospecting to close
- Build and keep a healthy pipeline in Salesforce

Requirements
- 3+ years of quota-carrying SaaS sales experience
- Proven record of exceeding quota
- Experience with Salesforce or HubSpot
- Excellent negotiation and presentation skills
- Fluent English
""",
)
NURSE = Opening(
    "far",
    "Registered Nurse (ICU)",
    """Responsibilities
- Assess patients and administer medication
- Keep accurate clinical documentation

Requirements
- Active RN license required
- Bachelor of Science in Nursing
- 2+ years of experience in intensive care
- BLS and ACLS certification
""",
)
WAREHOUSE = Opening(
    "far",
    "Warehouse Associate",
    """Duties
- Pick and pack orders
- Load and unload trucks
- Keep the warehouse clean and safe

Requirements
- Forklift experience
- Ability to lift 25 kg
- Basic knowledge of inventory systems
- Willing to work night shifts
""",
)
RECRUITER = Opening(
    "far",
    "Technical Recruiter",
    """What we're looking for
- 3+ years of full-cycle recruiting experience in tech
- Experience sourcing candidates for Python and AWS teams
- Experience with applicant tracking systems
- Strong interpersonal skills
""",
)
ACCOUNTANT = Opening(
    "far",
    "Senior Accountant",
    """Requirements
- 5+ years of accounting experience
- Knowledge of IFRS and month-end close
- Experience with SAP and Excel
- Degree in accounting or finance
""",
)

OPENINGS = (
    BACKEND,
    FINTECH,
    DJANGO_DE,
    GO_BACKEND,
    SRE,
    DATA,
    FRONTEND,
    SALES,
    NURSE,
    WAREHOUSE,
    RECRUITER,
    ACCOUNTANT,
)

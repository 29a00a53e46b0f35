"""Documents as a candidate would send them."""

from dataclasses import replace

from materials.contracts import ContactLine, LetterDocument, Line, ResumeDocument, ResumeEntry, SkillLine


def write_lines(*texts: str) -> tuple[Line, ...]:
    return tuple(Line(text) for text in texts)


def write_entry(title: str, organization: str, location: str, dates: str, *lines: str) -> ResumeEntry:
    return ResumeEntry("entry", title, organization, location, dates, write_lines(*lines))


CONTACTS = (
    ContactLine("Rotterdam, Netherlands"),
    ContactLine("mara.oconnell@example.com", "mailto:mara.oconnell@example.com"),
    ContactLine("+31 20 555 0100", "tel:+31205550100"),
    ContactLine("linkedin.com/in/mara-oconnell", "https://www.linkedin.com/in/mara-oconnell"),
    ContactLine("example.org/mara?a=1&b=2", "https://example.org/mara?a=1&b=2"),
)

LONG_RESUME = ResumeDocument(
    name="Mara O’Connell",
    label="Staff Backend Engineer",
    contacts=CONTACTS,
    summary=write_lines(
        "Backend engineer with eleven years in payments and logistics, most of them on systems that must not lose a message.",
        "Leads by writing: design notes, migration plans and the tests that prove them.",
    ),
    skills=(
        SkillLine("Languages", write_lines("Python", "Go", "SQL", "TypeScript", "C++ (reading)")),
        SkillLine(
            "Data", write_lines("PostgreSQL", "Kafka", "ClickHouse", "Redis", "dbt", "Apache Arrow", "event sourcing")
        ),
        SkillLine("Operations", write_lines("Kubernetes", "Terraform", "AWS", "OpenTelemetry", "on-call")),
    ),
    experience=(
        write_entry(
            "Staff Software Engineer",
            "Northwind Payments B.V.",
            "Amsterdam",
            "March 2021 – present",
            "Re-built the settlement ledger as an append-only, double-entry service; 1.4 billion postings a year with no manual correction since go-live.",
            "Cut the nightly reconciliation from 5 h 40 min to 22 minutes by replacing row-by-row matching with sorted merges over Parquet.",
            "Introduced an efficient office workflow for schema changes: every migration is rehearsed on a fresh copy of production before review.",
            "Mentored six engineers, two of whom now lead teams of their own.",
            "Wrote the incident review guide used by all 14 product teams.",
        ),
        write_entry(
            "Senior Software Engineer",
            "Fjord & Fluss Logistik GmbH",
            "Hamburg",
            "June 2017 – February 2021",
            "Designed the full‐stack tracking product from a single spreadsheet to 38,000 parcels a day; the first-attempt delivery rate rose from 86 % to 93 %.",
            "Moved eleven cron jobs onto a durable workflow engine, so that a failed carrier call is retried rather than forgotten.",
            "Halved infrastructure cost (−52 %) by right-sizing Kubernetes requests and dropping an unused search cluster.",
            "Ran the affiliate integration programme with nine carriers; prices kept the literal $& of the old system.",
        ),
        write_entry(
            "Software Engineer",
            "Lindqvist Data AB",
            "Stockholm",
            "September 2014 – May 2017",
            "Built ingestion for 120 municipal data feeds in Python; the feeds differed in encoding, calendar and punctuality.",
            "Kept the public API below a 40 ms median while traffic grew tenfold.",
            "Replaced a fragile deployment script with reproducible images.",
        ),
        write_entry(
            "Junior Developer",
            "Kestrel Software Ltd.",
            "Cork",
            "July 2012 – August 2014",
            "Maintained the billing module of a practice-management suite used by 600 dental offices.",
            "Fixed the 29 February bug before it happened again.",
        ),
    ),
    projects=(
        write_entry(
            "ledgerlint", "", "", "2020 – 2024", "Open-source checker for double-entry journals, packaged in Debian."
        ),
        write_entry("Ferry timetable", "", "", "2019", "A small offline page with every departure in the harbour."),
    ),
    education=(
        write_entry(
            "M.Sc. Computer Science",
            "University College Cork",
            "Ireland",
            "2010 – 2012",
            "Thesis on conflict-free replicated data types, first-class honours.",
        ),
        write_entry("B.Sc. Mathematical Sciences", "University College Cork", "Ireland", "2006 – 2010"),
    ),
    credentials=(
        write_entry("AWS Certified Solutions Architect – Professional", "Amazon Web Services", "", "2022"),
        write_entry("Certified Kubernetes Administrator", "The Linux Foundation", "", "2021"),
    ),
)

SHORT_RESUME = replace(
    LONG_RESUME,
    experience=LONG_RESUME.experience[:2],
    projects=(),
    education=LONG_RESUME.education[:1],
    credentials=(),
)

ACCENTED_RESUME = replace(
    SHORT_RESUME,
    name="Zoë Čapek-Łukaszewicz",
    label="Ingénieure logiciel – Données",
    language="fr",
    summary=write_lines(
        "Ingénieure depuis neuf ans\u00a0: «\u00a0l’œuvre\u00a0» d’Ångström, Dvořák, Győr, İstanbul, Ørsted, Þór et Ștefan.",
        "Coûts réduits de 30\u00a0%, délais divisés par deux à Αθήνα et à Київ.",
    ),
)

JAPANESE_RESUME = replace(
    SHORT_RESUME,
    name="山田 太郎",
    label="バックエンド・エンジニア",
    language="ja",
    contacts=(ContactLine("東京都港区"), ContactLine("taro@example.com", "mailto:taro@example.com")),
    summary=write_lines("大規模な決済システムの設計・開発に10年間従事。", "神戸で生まれ、長く西の青い麦を見て育つ。"),
    skills=(SkillLine("言語", write_lines("Python", "Go", "日本語（母語）", "英語（ビジネス）")),),
    experience=(
        write_entry(
            "主任エンジニア",
            "株式会社アクメ",
            "東京",
            "2019年4月 – 現在",
            "決済基盤を再設計し、夜間バッチを5時間から20分に短縮した。",
        ),
        write_entry("エンジニア", "金子・山本システム株式会社", "神戸", "2014年4月 – 2019年3月"),
    ),
    education=(write_entry("工学部 情報工学科", "大阪大学", "", "2010年 – 2014年"),),
)

LETTER = LetterDocument(
    name="Mara O’Connell",
    contacts=CONTACTS,
    company="Harbour Analytics",
    title="Principal Engineer, Data Platform",
    greeting="Dear Ms Achterberg,",
    paragraphs=(
        write_lines(
            "Your posting asks for someone who has kept a ledger correct while it grew.",
            "I have spent the last four years doing that at Northwind Payments, where the settlement ledger now takes 1.4 billion postings a year without a manual correction.",
        ),
        write_lines(
            "What drew me to Harbour Analytics is the plan to open the platform to port authorities.",
            "At Fjord & Fluss I brought nine carriers onto one interface, each with its own idea of a timestamp, and learned to make the efficient path the easy one.",
        ),
        write_lines("I could start in March and would gladly talk on any weekday morning."),
    ),
    closing="Kind regards,",
    signature="Mara O’Connell",
    date="2026-11-29",
)

MIXED_LETTER = replace(
    LETTER,
    company="株式会社ミナトテック",
    title="バックエンド Engineer (Python, Go)",
    paragraphs=(
        write_lines(
            "I apply to 株式会社ミナトテック, whose work on 決済 (payments) I know; 東京, 神戸 and Cork.",
            "Python、Go と Rust を使う。",
            "I kept 100 % of it: C++, C#, .NET and the A/B “tests”.",
        ),
    ),
)

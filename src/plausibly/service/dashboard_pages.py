"""The pages of the dashboard as HTML: sign-in, list of collections, one collection, a comparison, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from urllib.parse import urlencode

from ..core.tables_only import TablesOnly
from ..core.wording import decimal, plural, visible
from ..core.words import Words
from ..pages.answer_page import chart_sections, facts_section, reading_section, table_of, tree_section
from ..pages.answers import Answer
from ..pages.changes import ChangeReport, changes_sections
from ..pages.html import SIMULATED, Html, page, tag
from ..pages.listing import ROWS, Listed, Listing, listed
from ..pages.plates import Plate, Show
from ..pages.table_page import table_sections
from ..shuffling import rounded_up
from .assets import ICON, SCRIPT, STYLE, TRY_SCRIPT, TRY_STYLE, TRYING, Asset
from .collections import Collection
from .inbox import Account
from .overview import Attributes, Hero, Overview, influence_of_fakes, words_about
from .progress import Progress
from .release import central, conditions, sentences
from .routes import DASHBOARD

_COLORS = tag("meta", name="color-scheme", content="light dark")


def _loaded(style: Asset, script: Asset) -> tuple[Html, ...]:
    return (
        tag("link", rel="stylesheet", href=style.address),
        tag("link", rel="icon", href=ICON.address, type="image/svg+xml"),
        tag("script", src=script.address, defer=""),
    )


_HEAD = (_COLORS, *_loaded(STYLE, SCRIPT))


@dataclass(frozen=True)
class Moment:
    """The state that a page shows: its name for caches, and what is announced when it is new."""

    tag: str
    told: str


def _framed(title: str, *content: Html, moment: Moment | None = None, signed_in: bool = True) -> str:
    own = {} if moment is None else {"data_state": moment.tag, "data_told": moment.told}
    links = [tag("a", tag("b", "plausibly"), href=DASHBOARD)]
    if signed_in:
        links += [
            tag("a", "Collections", href=DASHBOARD),
            tag("a", "Compare", href=f"{DASHBOARD}/changes"),
            tag("form", tag("button", "Sign out"), method="post", action=f"{DASHBOARD}/sign-out"),
        ]
    return page(
        f"{title} – plausibly",
        tag("a", "Skip to the content", href="#main", class_="skip"),
        tag("header", tag("nav", *links, class_="bar", aria_label="Dashboard")),
        tag("main", *content, id="main", tabindex="-1", **own),
        tag("footer", tag("p", tag("span", id="live", role="status")), class_="live"),
        head=_HEAD,
    )


def sign_in_page(to: str, *, refused: str = "") -> str:
    """The page with the form for a token. ``refused`` is the reason why the last one was not accepted."""
    form = tag(
        "form",
        tag("input", type="hidden", name="to", value=to),
        tag("label", "Token", for_="token"),
        tag(
            "input",
            **{"type": "password", "name": "token", "id": "token", "required": "", "maxlength": "200"},
            autocomplete="current-password",
            **({"aria_invalid": "true", "aria_describedby": "refused"} if refused else {}),
        ),
        tag("button", "Sign in"),
        *[tag("p", refused, id="refused", class_="note", role="alert")] * bool(refused),
        method="post",
        action=f"{DASHBOARD}/sign-in",
        class_="sign-in",
    )
    return _framed(
        "Sign in",
        tag("h1", "Sign in"),
        tag("p", "Estimates are for analysts: sign in with a token that may read.", class_="lede"),
        form,
        tag("p", "An operator makes a token with ", tag("code", "plausibly tokens create FOLDER --scope read"), "."),
        tag("p", "New here? ", tag("a", "Flip the coins of a report", href=f"{DASHBOARD}/try"), ".", class_="aside"),
        tag("p", "Signed in already, and here through a link? ", tag("a", "Continue", href=to), ".", class_="aside"),
        signed_in=False,
    )


def trying_page() -> str:
    """The page on which a visitor flips the coins of a report."""
    return TRYING.framed(*_loaded(TRY_STYLE, TRY_SCRIPT))


def error_page(title: str, detail: str, *, signed_in: bool) -> str:
    """The page that a person gets instead of an answer."""
    detail = f"{detail[:1].upper()}{detail[1:]}."
    return _framed(
        title,
        tag("h1", title),
        tag("p", detail, class_="lede"),
        tag("p", tag("a", "All collections", href=DASHBOARD)),
        signed_in=signed_in,
    )


# --- collections -----------------------------------------------------------------------------------------------------


def collections_page(accounts: Sequence[Account], moment: Moment) -> str:
    """The list of all collections with their progress."""
    if not accounts:
        said = tag("p", "There are no collections yet. An operator makes one with ", _CREATE, ".", class_="lede")
        return _framed("Collections", tag("h1", "Collections"), said, moment=moment)
    names = ("Collection", "Reports", "Status", "Privacy")
    rows = [_row(Progress.of(account), names) for account in accounts]
    table = tag(
        "table",
        tag("caption", "Collections with their progress", class_="unseen"),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names))),
        tag("tbody", *rows),
        class_="stacked collections",
    )
    return _framed("Collections", tag("h1", "Collections"), tag("div", table, class_="wide"), moment=moment)


_CREATE = tag("code", "plausibly collections create FOLDER --name NAME --scheme FILE")


def _row(progress: Progress, names: Sequence[str]) -> Html:
    collection = progress.account.collection
    link = tag("a", tag("bdi", visible(collection.name)), href=_address(collection.id))
    about = f"{collection.series}, {collection.slot}" if collection.series is not None else ""
    cells = (
        tag("td", link, *[tag("small", visible(about))] * bool(about)),
        tag("td", _together(progress.reports()), *_bar(progress), data_name=names[1]),
        tag("td", _badge(progress), tag("small", progress.window()), data_name=names[2]),
        tag("td", f"ε = {decimal(collection.scheme.epsilon)}", *_in_batches(collection), data_name=names[3]),
    )
    return tag("tr", *cells)


def _in_batches(collection: Collection) -> list[Html]:
    found = central(collection)
    return [] if found is None else [tag("small", f"central ε = {rounded_up(found.epsilon)}")]


def _badge(progress: Progress) -> Html:
    kind = "reproduced" if progress.status == "open" else "unclear"
    return tag("span", progress.status, class_=f"badge {kind}")


def _bar(progress: Progress) -> list[Html]:
    if progress.goal is None:
        return []
    received, goal = progress.account.received, progress.goal
    return [tag("progress", value=str(min(received, goal)), max=str(goal), aria_label=progress.reports())]


def _address(identity: str, rest: str = "", **query: str | Sequence[str]) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{DASHBOARD}/collections/{identity}{rest}" + (f"?{urlencode(given, doseq=True)}" if given else "")


# --- one collection --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """The question to a collection's page: items to count, if they cannot be listed, and the rows of the table.

    ``pair`` names the two attributes of a table of records; empty names stand for the first two.
    """

    items: tuple[str, ...] = ()
    listing: Listing = field(default_factory=Listing)
    pair: tuple[str, str] = ("", "")

    def query(self, **changed: str) -> dict[str, str]:
        """The query of an address with this question, some of it changed; defaults are left out."""
        own = self.listing
        given = {"items": "\n".join(self.items), "find": own.find, "sort": own.sort, "page": str(own.page)}
        given |= dict(zip(("rows", "columns"), self.pair, strict=True)) | changed
        return {name: text for name, text in given.items() if text and (name, text) not in _DEFAULTS}


_DEFAULTS = (("sort", "size"), ("page", "1"))


def collection_page(account: Account, found: Overview | None, asked: Asked, moment: Moment) -> str:
    """The page of one collection; ``found`` is None below the minimum number of reports."""
    progress, name = Progress.of(account), visible(account.collection.name)
    content = [
        tag("p", _badge(progress), " ", progress.window(), class_="eyebrow"),
        tag("h1", tag("bdi", name)),
        tag("div", tag("p", _together(progress.reports()), class_="lede"), *_bar(progress), class_="progress"),
    ]
    if found is None:
        content += [_too_few(progress), _words(account, None), *_release(account)]
    else:
        content += _overview(account, found, asked)
    content += [tag("p", _without_remedy(each), class_="aside") for each in account.collection.warnings]
    return _framed(name, *content, moment=moment)


def _without_remedy(warning: str) -> str:
    # The remedy is a parameter of another scheme, and a collection never changes.
    parts: Sequence[object] = warning.parts if isinstance(warning, Words) else (warning,)
    return "".join(map(str, takewhile(lambda part: isinstance(part, str), parts))).rstrip()


def _too_few(progress: Progress) -> Html:
    missing, collection = progress.missing, progress.account.collection
    more = f"{plural(missing, 'more report')}" if missing else "A first report"
    needed = [tag("b", more), f" {'is' if missing <= 1 else 'are'} needed before there is an answer."]
    about = (
        f"Below {plural(collection.minimum, 'report')}, estimates are mostly noise, and reading them would mislead. "
        "This is about honesty: the privacy of users comes from ε alone."
    )
    if collection.smallest_batch is not None:
        about = (
            f"Reports are released in batches of at least {collection.smallest_batch:,}, in which they hide each "
            "other: no answer has a report that still waits for its batch."
        )
        if not missing:
            needed = ["The batch is complete, and will be released within the hour."]
        elif progress.account.closed:
            needed = ["The collection closed before there was an answer."]
    told = [tag("p", *needed, class_="few"), tag("p", about, class_="about")]
    return tag("section", tag("h2", "Not yet"), *told, id="too-few")


def _release(account: Account) -> list[Html]:
    # The promise of a collection with batches, whether there is an answer yet or not, and what it needs to hold.
    told = list(sentences(account))
    if not told:
        return []
    listed = tag("ul", *(tag("li", each) for each in conditions(account.collection)))
    return [tag("section", tag("h2", "Batches"), *(tag("p", each) for each in told), listed, id="batches")]


def _overview(account: Account, found: Overview, asked: Asked) -> list[Html]:
    identity = account.collection.id
    content = [SIMULATED] * found.state.collected.simulated
    content += [tag("p", each, class_="note", role="note") for each in found.cautions]
    if found.heroes:
        content.append(tag("dl", *map(_hero, found.heroes), class_="heroes"))
    content += [_words(account, found), *_release(account)]

    def show(plate: Plate) -> Html:
        return linked(plate, identity, asked, found.state.tag)

    crossed = [] if found.attributes is None else _attributes(identity, found.attributes, show)
    if found.items is None:
        content += crossed
    for prefix, answer in found.answers.items():
        content += chart_sections(answer, show, prefix, fold=True)
    if found.unasked or asked.items:
        content.append(_question(identity, found, asked))
    if found.items is not None:
        content.append(_numbers(identity, found.items, asked))
        content += [*tree_section(found.items, show), *crossed]
    content += _downloads(identity, found, asked)
    if found.items is not None:
        content += reading_section(found.items)
    content += [facts_section(found.first)] if found.first is not None else []
    return content


def _attributes(identity: str, found: Attributes, show: Show) -> list[Html]:
    refused = [tag("p", found.refused, class_="note", role="note")] * bool(found.refused)
    content = refused
    if any(found.chosen):
        asked = "Which two attributes?" if found.single else "Which two items together?"
        content = [tag("section", tag("h2", asked), *refused, _pair(identity, found), id="pair")]
    if found.table is not None:
        content += table_sections(found.table, show, "table-")
    single = [_single(place, name, found) for place, name in enumerate(found.single)]
    each = [tag("section", tag("h2", "Each attribute"), *single, id="attributes")] * bool(single)
    return [*content, *each]


def _pair(identity: str, found: Attributes) -> Html:
    fields = []
    for name, label, own in (("rows", "Rows", found.chosen[0]), ("columns", "Columns", found.chosen[1])):
        options = [
            tag("option", visible(each), value=each, **({"selected": ""} if each == own else {}))
            for each in found.names
        ]
        fields.append(tag("div", tag("label", label, for_=name), tag("select", *options, id=name, name=name)))
    return tag("form", *fields, tag("button", "Show", id="crossing"), action=_address(identity), class_="choice")


def _single(place: int, name: str, found: Attributes) -> Html:
    answer = found.single[name]
    table = table_of(answer, answer.shown, caption=f"{visible(name)}: {answer.good_for()}")
    opened = {"open": ""} if name in found.chosen or not any(found.chosen) else {}
    return tag("details", tag("summary", tag("bdi", visible(name))), table, id=f"attribute-{place}", **opened)


def _hero(hero: Hero) -> Html:
    unit = [Html("\N{NO-BREAK SPACE}"), tag("i", hero.unit)] if hero.unit else []
    said = [tag("b", hero.number, *unit), *_line(hero), tag("span", _together(hero.interval))]
    said += [tag("small", _together(hero.remark))] * bool(hero.remark)
    return tag("div", tag("dt", tag("bdi", hero.about)), tag("dd", *said))


def _line(hero: Hero) -> list[Html]:
    # The interval as a stroke on a line from 0, and the estimate across it; the words say the same.
    if hero.ends is None:
        return []
    most = next(each for each in _SCALES if each >= min(hero.ends[2], 1.0))
    low, value, high = (f"{2 + 396 * share / most:.1f}" for share in hero.ends)
    drawn = [
        tag("line", x1="2", x2="398", y1="9", y2="9", class_="all", stroke_width="2"),
        tag("line", x1=low, x2=high, y1="9", y2="9", class_="from-to", stroke_width="8"),
        tag("line", x1=value, x2=value, y1="1", y2="17", class_="at", stroke_width="2"),
        tag("text", "0", x="2", y="32"),
        tag("text", f"{100 * most:g} %", x="398", y="32", text_anchor="end"),
    ]
    return [tag("svg", *drawn, viewBox="0 0 400 36", aria_hidden="true", class_="range")]


_SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def _words(account: Account, found: Overview | None) -> Html:
    collection = account.collection
    n = account.released if found is not None else max(collection.minimum, collection.smallest_batch or 0)
    told = words_about(collection.scheme, n)
    if found is not None and found.first is not None:
        told.append(("Fake reports", influence_of_fakes(collection.scheme, n)))
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", _together(text))) for name, text in told), class_="tiles")


def _together(text: str) -> str:
    # A line does not begin with a sign of percent.
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def linked(plate: Plate, identity: str, asked: Asked, state: str) -> Html:
    """The chart as a picture with an address of its own, so that the words of the page do not wait for it."""
    return _linked(plate, f"{DASHBOARD}/collections/{identity}/charts/{plate.name}", asked.query() | {"state": state})


def _linked(plate: Plate, address: str, query: dict[str, str]) -> Html:
    wide, narrow = (f"{address}?{urlencode(query | more)}" for more in ({}, {"narrow": "1"}))
    image = tag("img", src=wide, alt=plate.alt, class_=plate.class_)
    if plate.narrows:
        image = tag("picture", tag("source", media="(max-width: 46rem)", srcset=narrow), image)
    return tag("div", image, class_="picture", tabindex="0", role="group", aria_label=plate.label)


def _question(identity: str, found: Overview, asked: Asked) -> Html:
    form = tag(
        "form",
        tag("label", "Items to count, one on each line", for_="items"),
        tag("textarea", "\n".join(asked.items), id="items", name="items", rows="4"),
        tag("button", "Count"),
        action=_address(identity),
        class_="question",
    )
    told = [tag("p", found.unasked, class_="about")] * bool(found.unasked)
    return tag("section", tag("h2", "Which items?"), *told, form, id="question")


def _numbers(identity: str, answer: Answer, asked: Asked) -> Html:
    if not len(answer.estimates):
        nothing = ["Nothing found: no string stands out from the noise.", *answer.needed()]
        return tag("section", tag("h2", "Result"), *(tag("p", each, class_="about") for each in nothing), id="numbers")
    if answer.found is not None:
        told = [tag("p", note, class_="about") for note in answer.notes(picked=False)]
        return tag(
            "section",
            tag("h2", "Strings"),
            *told,
            table_of(answer, answer.shown, caption="Strings found"),
            id="numbers",
        )
    rows = listed(answer.estimates, asked.listing)
    which = _together(_which(rows, asked.listing))
    said = [_filter(identity, asked), tag("p", which, class_="about", id="which")]
    if rows.matching:
        said.append(_items(identity, answer, rows, asked))
    said += _paging(identity, rows, asked)
    return tag("section", tag("h2", "Every item"), *said, id="numbers", data_told=which)


def _filter(identity: str, asked: Asked) -> Html:
    kept = asked.query(find="", page="")
    return tag(
        "form",
        *(tag("input", type="hidden", name=name, value=text) for name, text in kept.items()),
        tag("label", "Find an item", for_="find"),
        tag("input", type="search", id="find", name="find", value=asked.listing.find),
        tag("button", "Find", id="finding"),
        action=_address(identity),
        role="search",
        class_="filter",
        data_part="numbers",
    )


def _which(rows: Listed, asked: Listing) -> str:
    if not rows.matching:
        return "No item matches."
    last = min(rows.first + ROWS, rows.matching)
    order = "largest first" if asked.sort == "size" else "in the order of the domain"
    told = f"Items {rows.first + 1:,} to {last:,} of {rows.matching:,}, {order}."
    if rows.shown.variance is None:
        return told
    chosen = rows.shown.selection is not None
    good = (
        " The intervals allow for the choice of the largest."
        if chosen
        else " Each interval is good for an item that you had in mind before you saw the estimates."
    )
    marks = " “Stands out” allows for the whole list: the chance of even one false mark is 5 %."
    return told + good + marks * (rows.marks is not None)


def _items(identity: str, answer: Answer, rows: Listed, asked: Asked) -> Html:
    first, second, *_ = answer.header()
    heads = {}
    for name, sort, direction in ((first, "item", "ascending"), (second, "size", "descending")):
        link = tag(
            "a", name, href=_address(identity, **asked.query(sort=sort, page="")), data_part="numbers", id=f"by-{sort}"
        )
        own = {"aria_sort": direction} if asked.listing.sort == sort else {}
        heads[name] = tag("th", link, scope="col", **({} if name == first else {"class_": "figure"}), **own)
    return table_of(answer, rows.shown, caption="Estimates of items", heads=heads, marks=rows.marks)


def _paging(identity: str, rows: Listed, asked: Asked) -> list[Html]:
    number = rows.first // ROWS + 1
    steps = (("Previous", number - 1, "previous"), ("Next", number + 1, "next"))
    links = [
        tag(
            "a",
            f"{name} {ROWS}",
            href=_address(identity, **asked.query(page=str(to))),
            rel=rel,
            data_part="numbers",
            id=rel,
        )
        for name, to, rel in steps
        if 1 <= to <= rows.pages
    ]
    return [tag("nav", *links, class_="paging", aria_label="Pages of items")] * bool(links)


def _downloads(identity: str, found: Overview, asked: Asked) -> Iterable[Html]:
    if found.first is None:
        return
    formats = ("CSV", *["Parquet"] * (found.first is not found.ordered))
    crossed = found.attributes if found.attributes is not None and found.attributes.table is not None else None
    if found.items is not None or crossed is None:
        what = "all estimates" if found.items is not None or found.attributes is None else "this table"
        yield _download(identity, what, formats, "download", items="\n".join(asked.items))
    if crossed is not None:
        own = dict(zip(("rows", "columns"), crossed.chosen, strict=True))
        what = "this table" if found.items is None else "the table of both items"
        yield _download(identity, what, formats, "download-table", **own)


def _download(identity: str, what: str, formats: Sequence[str], place: str, **own: str) -> Html:
    links = [
        tag("a", name, download="", href=_address(identity, f"/estimates.{name.lower()}", **own)) for name in formats
    ]
    return tag("p", f"Download {what}, unrounded: ", *_joined(links), class_="downloads", id=place)


def _joined(links: Sequence[Html]) -> list[Html]:
    return [part for link in links for part in (Html(" · "), link)][1:]


# --- comparison ------------------------------------------------------------------------------------------------------


def changes_page(
    accounts: Sequence[Account],
    chosen: tuple[str, str],
    report: ChangeReport | None,
    *,
    items: Sequence[str] = (),
    refused: str = "",
) -> str:
    """The comparison of two collections, and the form to choose them."""
    content = [tag("h1", "Compare two collections")]
    if report is not None:
        content.append(tag("p", report.summary(), class_="lede"))
    if refused:
        content.append(tag("p", f"{refused[:1].upper()}{refused[1:]}.", class_="note", role="alert"))
    content.append(_choice(accounts, chosen, items, same_users=report is not None and report.same_users))
    if report is not None:
        query = {"before": chosen[0], "after": chosen[1], "items": "\n".join(items)}
        query |= {"same_users": "1"} if report.same_users else {}
        query |= {"state": f"{report.changes.before.n}-{report.changes.after.n}"}
        given = {name: text for name, text in query.items() if text}
        content += changes_sections(report, lambda plate: _linked(plate, f"{DASHBOARD}/changes/chart", given))
    return _framed("Compare", *content)


def _choice(accounts: Sequence[Account], chosen: tuple[str, str], items: Sequence[str], *, same_users: bool) -> Html:
    fields = []
    for name, label, own in (("before", "Before", chosen[0]), ("after", "After", chosen[1])):
        options = [tag("option", "Choose a collection", value="")]
        for account in accounts:
            identity = account.collection.id
            selected = {"selected": ""} if identity == own else {}
            told = f"{visible(account.collection.name)} ({plural(account.released, 'report')})"
            options.append(tag("option", told, value=identity, **selected))
        select = tag("select", *options, id=name, name=name, required="")
        fields.append(tag("div", tag("label", label, for_=name), select))
    checked = {"checked": ""} if same_users else {}
    box = tag("input", type="checkbox", name="same_users", value="1", id="same-users", **checked)
    fields.append(tag("div", box, tag("label", "The same users reported both times", for_="same-users"), class_="box"))
    lines = tag("textarea", "\n".join(items), id="items", name="items", rows="3")
    fields.append(
        tag(
            "details",
            tag("summary", "Only some items"),
            tag("label", "Items to compare, one on each line", for_="items"),
            lines,
            **({"open": ""} if items else {}),
        )
    )
    return tag("form", *fields, tag("button", "Compare"), action=f"{DASHBOARD}/changes", class_="choice")


def worth_comparing(accounts: Iterable[Account]) -> list[Account]:
    """The collections that have estimates of items to compare."""
    counting = [each for each in accounts if not isinstance(each.collection.scheme.estimator(), TablesOnly)]
    return [each for each in counting if Progress.of(each).enough]

"""The common style sheet of all pages, for screens of any width, light and dark mode, and paper."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c1e21; --soft: #5a6069; --rule: #d9dce1; --tint: #f5f6f8; --link: #0b5cad;
  --good: #12703a; --good-tint: #e6f4ea; --bad: #b02a1c; --bad-tint: #fcebe8;
  --turned: #7a4b00; --turned-tint: #fdf1dc; --open: #5a6069; --open-tint: #eef0f3;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif;
  --mono: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161616; --ink: #e4e6ea; --soft: #a0a7b2; --rule: #343941; --tint: #1f2024; --link: #7db8f5;
    --good: #7ad396; --good-tint: #14301f; --bad: #ff9d8f; --bad-tint: #3a1b17;
    --turned: #f0bf6a; --turned-tint: #36280f; --open: #a0a7b2; --open-tint: #262a31;
  }
  /* Pictures are drawn on white: darkness is turned round, the hues stay. */
  .picture img { filter: invert(0.915) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 var(--serif); }
main, header, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
p, ul, .about, .finding { max-width: 44rem; }
a { color: var(--link); text-decoration-thickness: 0.06em; text-underline-offset: 0.15em; }
h1 { font-size: clamp(1.7rem, 5vw, 2.5rem); line-height: 1.15; margin: 2.6rem 0 0.6rem; text-wrap: balance; }
h2 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.5rem; text-wrap: balance; }
h2 .number { color: var(--soft); font-weight: 400; margin-right: 0.4em; }
h3 { font: 600 0.8rem/1.4 var(--sans); letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
h3 { margin: 1.8rem 0 0.5rem; }
section { padding: 2.2rem 0 0.6rem; border-top: 1px solid var(--rule); margin-top: 2rem; }
.lede { font-size: 1.15rem; color: var(--soft); margin-top: 0; }
.note { border-left: 0.25rem solid var(--turned); background: var(--turned-tint); padding: 0.6rem 1rem; }
.simulated { border: 3px double var(--turned); background: var(--turned-tint); padding: 0.6rem 1rem; max-width: none; }
.simulated b { display: block; font: 700 2.4rem/1.2 var(--sans); letter-spacing: 0.08em; text-transform: uppercase; }
.simulated b { color: var(--turned); }
.counts { display: flex; flex-wrap: wrap; gap: 0.6rem; padding: 0; margin: 1.2rem 0; max-width: none; }
.counts li { flex: 1 1 10rem; border: 1px solid; border-radius: 0.5rem; padding: 0.5rem 0.9rem; }
.counts { font: 0.9rem/1.35 var(--sans); list-style: none; }
.counts b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.contents { columns: 19rem; column-gap: 2.5rem; padding: 0; list-style: none; max-width: none; }
.contents { font: 0.95rem/1.45 var(--sans); }
.contents li { break-inside: avoid; padding: 0.15rem 0 0.15rem 5.2rem; text-indent: -5.2rem; }
.contents .number { display: inline-block; width: 5.2rem; color: var(--soft); text-indent: 0; }
.picture { margin: 1.2rem 0 0.4rem; overflow-x: auto; }
.picture img { display: block; width: 100%; height: auto; background: #ffffff; }
.picture img.across-1 { max-width: 34rem; }
.picture img.narrowed { max-width: 48rem; }
.picture img.across-2 { max-width: 52rem; }
table { border-collapse: collapse; font: 0.88rem/1.45 var(--sans); width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; color: var(--soft); }
th:last-child, td:last-child { padding-right: 0; }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td[data-name="Data"], td[data-name="n"] { white-space: nowrap; }
.wide { overflow-x: auto; }
.apart td { border-top: 2px solid var(--soft); }
.apart small { color: var(--soft); }
.aside { font: 0.88rem/1.5 var(--sans); color: var(--soft); }
.scroll { display: none; font: 0.88rem/1.5 var(--sans); color: var(--soft); margin: 0.6rem 0 0; }
details { margin: 1.4rem 0; }
summary { cursor: pointer; font: 600 0.95rem/1.5 var(--sans); }
.badge { display: inline-block; border: 1px solid; border-radius: 0.35rem; padding: 0 0.5rem; white-space: nowrap; }
.badge { font: 600 0.82rem/1.65 var(--sans); }
.reproduced { color: var(--good); background: var(--good-tint); }
.not-reproduced { color: var(--bad); background: var(--bad-tint); border-style: dashed; }
.reversed { color: var(--turned); background: var(--turned-tint); border-style: double; border-width: 3px; }
.partly { color: var(--turned); background: var(--turned-tint); border-style: dashed; }
.badge.reversed { line-height: 1.4; }
.unclear { color: var(--open); background: var(--open-tint); }
.not-measured { color: var(--open); background: var(--open-tint); border-style: dotted; }
.finding { border-left: 0.2rem solid var(--rule); padding: 0.1rem 0 0.1rem 1rem; margin: 0 0 1.4rem; }
.finding p { margin: 0.25rem 0; }
.finding .where { font: 0.85rem/1.5 var(--sans); color: var(--soft); margin-left: 0.6rem; }
.finding .measured { font: 0.9rem/1.5 var(--sans); font-variant-numeric: tabular-nums; }
code, pre { font-family: var(--mono); font-size: 0.86rem; }
pre { background: var(--tint); border: 1px solid var(--rule); border-radius: 0.4rem; padding: 0.6rem 0.9rem; }
pre { margin: 0; overflow-x: auto; white-space: pre; }
footer { color: var(--soft); font: 0.88rem/1.5 var(--sans); padding-bottom: 3rem; }
@media (min-width: 70rem) {
  /* Four panels side by side need more than the column. */
  .picture:has(.across-4) { width: min(84rem, 96vw); margin-left: calc(50% - min(42rem, 48vw)); }
}
@media (max-width: 46rem) {
  body { font-size: 1rem; }
  .scroll { display: block; }
  /* A picture keeps a width that can be read, and is moved under the finger. */
  .picture img { width: auto; min-width: 100%; max-width: none; }
  .picture img.across-1 { width: 100%; }
  .picture img.narrowed { width: 100%; max-width: 26rem; }
  .picture img.across-2 { width: 42rem; }
  .picture img.across-3 { width: 58rem; }
  .picture img.across-4 { width: 76rem; }
  /* An item has a line of its own, so that its interval is in sight. */
  .stacks, .stacks thead, .stacks tbody { display: block; }
  .stacks tr { display: grid; grid-template-columns: 4fr 4fr 8fr; column-gap: 0.6rem; font-size: 0.82rem; }
  .stacks tr:has(:nth-child(5)) { grid-template-columns: 4fr 4fr 8fr 4fr; }
  .stacks tr:has(:nth-child(6)) { grid-template-columns: 4fr 4fr 4fr; }
  .stacks tr:has(:nth-child(6)) > :nth-child(5) { grid-column: span 2; }
  .stacks tr { border-bottom: 1px solid var(--rule); padding: 0.4rem 0; }
  .stacks th, .stacks td, .apart td { border: 0; padding: 0; }
  .stacks th.figure { white-space: normal; }
  .stacks th:first-child, .stacks td:first-child { grid-column: 1 / -1; font-weight: 600; }
  .stacks .apart tr { border-top: 2px solid var(--soft); }
  .stacked thead { display: none; }
  .stacked tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--rule); }
  .stacked td:empty { display: none; }
  .stacked td { display: block; border: 0; padding: 0.12rem 0; }
  .stacked td.figure { text-align: left; white-space: normal; }
  .stacked tr:has(td.figure) td:first-child { font-weight: 600; }
  .stacked td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); unicode-bidi: isolate; }
}
@media print {
  @page { margin: 16mm 14mm; }
  :root {
    --paper: #ffffff; --ink: #000000; --soft: #444444; --rule: #bbbbbb; --tint: #f5f5f5; --link: #000000;
    --good: #0b5a2c; --good-tint: #ffffff; --bad: #9a1f12; --bad-tint: #ffffff;
    --turned: #6b4100; --turned-tint: #ffffff; --open: #444444; --open-tint: #ffffff;
  }
  html { font-size: 9.5pt; }
  main, header, footer { max-width: none; padding: 0; }
  a { text-decoration: none; }
  h2, h3, .about { break-after: avoid; }
  h1 { margin-top: 0; }
  p, ul, .about, .finding { max-width: none; }
  .picture, .finding, tr, pre { break-inside: avoid; }
  .picture, .wide { overflow: visible; }
  .picture:has(.across-4) { width: auto; margin-left: 0; }
  .picture img { filter: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  section { border: 0; margin: 0; }
  nav { display: none; }
}
"""

ANSWERS = """
body { overflow-wrap: break-word; }
.picture img.chart { width: 100%; max-width: 46rem; }
.picture img.tree, .picture img.grid { width: auto; max-width: none; }
.crossed { width: auto; }
.crossed small { display: block; color: var(--soft); }
.crossed tbody th { font-weight: 400; color: inherit; min-width: 9rem; overflow-wrap: anywhere; }
.crossed .sums th, .crossed .sums td { border-top: 2px solid var(--soft); }
.legend { font: 0.88rem/1.5 var(--sans); color: var(--soft); padding-left: 1.2rem; margin: 0.4rem 0; }
.made-up { color: var(--turned); font-weight: 600; }
.faint { color: var(--soft); }
.subheading th { padding-top: 1.2rem; }
td bdi { white-space: pre-wrap; overflow-wrap: anywhere; }
.sorts td:first-child { min-width: 8.5rem; }
td.figure { white-space: pre; }
.facts th { width: 9rem; }
.facts td { overflow-wrap: anywhere; }
.sorts { width: auto; min-width: min(46rem, 100%); }
.sorts button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
.sorts th[aria-sort="ascending"] button::after { content: " ↑"; }
.sorts th[aria-sort="descending"] button::after { content: " ↓"; }
@media (max-width: 46rem) {
  .picture img.chart, .picture img.grid { width: 100%; min-width: 0; max-width: 27rem; }
  .crossed, .crossed tbody { display: block; width: 100%; }
  .crossed thead { display: none; }
  .crossed tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--rule); }
  .crossed tbody th, .crossed tbody td, .crossed .sums th, .crossed .sums td { border: 0; padding: 0; }
  .crossed tbody th { display: block; font-weight: 600; }
  .crossed tbody td { display: grid; grid-template-columns: 3fr 2fr 2fr; column-gap: 0.6rem; }
  .crossed td::before { content: attr(data-name); text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .sorts { min-width: 0; width: 100%; }
  .sorts td:first-child { min-width: 0; }
}
@media print { .picture img.tree, .picture img.grid { max-width: 100%; } }
"""
"""The styles of pages that show estimates and changes, after the common ones."""

DASHBOARD_ONLY = """
:root { --accent: #4477aa; }
@media (prefers-color-scheme: dark) { :root { --accent: #8fb4d9; } }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; font-family: var(--sans); }
.skip:focus { left: 1.25rem; top: 0.6rem; background: var(--paper); padding: 0.4rem 0.8rem; z-index: 1; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 1.6rem; padding: 0.9rem 0; }
.bar { font: 0.95rem/1.5 var(--sans); border-bottom: 1px solid var(--rule); }
.bar a { color: var(--ink); text-decoration: none; padding: 0.25rem 0; }
.bar a:hover { text-decoration: underline; }
.bar b { letter-spacing: -0.01em; }
.bar form { margin-left: auto; }
button, input, select, textarea { font: 0.95rem/1.4 var(--sans); color: var(--ink); background: var(--paper); }
button, input, select, textarea { border: 1px solid var(--soft); border-radius: 0.4rem; padding: 0.4rem 0.8rem; }
select { max-width: 100%; }
button { cursor: pointer; background: var(--tint); font-weight: 600; }
button:hover { border-color: var(--ink); }
.bar button, .live button { font-weight: 400; font-size: 0.88rem; padding: 0.2rem 0.7rem; color: var(--soft); }
label { font: 600 0.88rem/1.5 var(--sans); color: var(--soft); }
progress { display: block; width: 100%; max-width: 14rem; height: 0.45rem; margin: 0.4rem 0 0; }
progress { appearance: none; border: 0; border-radius: 1rem; background: var(--open-tint); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--open-tint); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
main > h1 { margin: 0.5rem 0 0.3rem; }
main > h1:first-child { margin-top: 2.2rem; }
.eyebrow { font: 0.9rem/1.6 var(--sans); color: var(--soft); margin: 2.2rem 0 0; max-width: none; }
.eyebrow .badge { margin-right: 0.5rem; }
.progress .lede { margin: 0; }
.progress progress { max-width: 22rem; margin-top: 0.6rem; height: 0.5rem; }
.heroes { display: flex; flex-wrap: wrap; gap: 1.6rem 4.5rem; margin: 2.6rem 0 2.2rem; }
.heroes dt { font: 600 0.95rem/1.4 var(--sans); color: var(--soft); overflow-wrap: anywhere; }
.heroes dd { margin: 0; }
.heroes b { display: block; font: 600 clamp(3.2rem, 11vw, 5rem)/1.2 var(--sans); letter-spacing: -0.03em; }
.heroes b { font-variant-numeric: tabular-nums; }
.heroes i { font-style: normal; font-weight: 400; font-size: 0.5em; letter-spacing: 0; }
.heroes span { display: block; font: 1.2rem/1.5 var(--sans); }
.heroes small { display: block; font: 0.88rem/1.5 var(--sans); color: var(--soft); }
.range { display: block; width: min(24rem, 100%); height: auto; margin: 0.6rem 0 0; }
.range text { font: 13px var(--sans); fill: var(--soft); }
.range .all { stroke: var(--rule); }
.range .from-to { stroke: var(--accent); }
.range .at { stroke: var(--ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 1.2rem 2.4rem; }
.tiles { margin: 1.6rem 0 0; }
.tiles > div { border-top: 2px solid var(--ink); padding-top: 0.6rem; }
.tiles dt { font: 600 0.8rem/1.4 var(--sans); letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
.tiles dd { margin: 0.3rem 0 0; font: 0.95rem/1.55 var(--sans); }
.few b { display: block; font: 600 clamp(2.2rem, 8vw, 3.4rem)/1.15 var(--sans); letter-spacing: -0.02em; }
.few { font: 1.1rem/1.5 var(--sans); margin: 0.4rem 0; }
.collections { font-size: 0.95rem; }
.collections td { padding-top: 0.8rem; padding-bottom: 0.9rem; }
.collections td:first-child { font-weight: 600; min-width: 12rem; }
.collections small { display: block; margin-top: 0.3rem; color: var(--soft); font-weight: 400; font-size: 0.85rem; }
.filter, .question, .sign-in, .choice { margin: 1rem 0; }
.filter { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.8rem; }
.filter input { flex: 0 1 18rem; min-width: 0; }
.question label, .sign-in label { display: block; }
.question textarea, .choice textarea { display: block; width: 100%; max-width: 30rem; margin: 0.3rem 0 0.8rem; }
.sign-in input { width: 100%; max-width: 26rem; margin: 0.3rem 0 0.8rem; display: block; }
.sign-in, .choice { border: 1px solid var(--rule); border-radius: 0.6rem; padding: 1.2rem 1.4rem; }
.sign-in, .choice { background: var(--tint); }
.sign-in { max-width: 30rem; }
.choice { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 0.8rem 1.6rem; }
.choice select { display: block; width: 100%; margin-top: 0.3rem; }
.choice .box, .choice details, .choice > button { grid-column: 1 / -1; margin: 0; justify-self: start; }
.choice details { width: 100%; }
.box label { font-weight: 400; color: var(--ink); margin-left: 0.5rem; }
caption { text-align: left; font: 0.88rem/1.5 var(--sans); color: var(--soft); padding-bottom: 0.3rem; }
th a { color: inherit; }
th[aria-sort="ascending"] a::after { content: "\\a0↑"; }
th[aria-sort="descending"] a::after { content: "\\a0↓"; }
.paging { display: flex; gap: 1.6rem; margin: 1rem 0; font: 0.95rem/1.5 var(--sans); }
.downloads { font: 0.95rem/1.6 var(--sans); color: var(--soft); }
.live span:not(:empty) { margin-right: 0.8rem; }
@media (max-width: 46rem) {
  .eyebrow { margin-top: 1.2rem; }
  .heroes { margin: 1.8rem 0; }
  .bar { gap: 0.3rem 0.9rem; font-size: 0.9rem; }
  .bar button { padding: 0.15rem 0.5rem; }
  .stacks caption { display: block; }
  .collections td { padding: 0.15rem 0; }
  .collections td:first-child { font-size: 1.05rem; min-width: 0; }
  .collections td:last-child { color: var(--soft); font-size: 0.85rem; }
  .collections td[data-name]::before { content: none; }
}
@media print { .bar, .skip, .filter, .question, .choice, .paging, .downloads, .live { display: none; } }
"""
"""The styles of the dashboard, after those of estimates."""

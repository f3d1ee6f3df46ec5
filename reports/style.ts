/** CSS of both pages: one column for print, phones, light and dark mode; interactive charts, axes of sweeps, drawn walks. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fff; --panel: #f6f8f9; --ink: #1f2933; --quiet: #66727d; --line: #e2e7ea;
  --accent: #0072b2; --soft: #e6f1f8; --good: #00795a; --good-soft: #e3f4ee; --bad: #b34700; --bad-soft: #fcebe0;
  --faint: #b9c3cb; --shadow: #00000038;
}
@media screen and (prefers-color-scheme: dark) {
  img.day { filter: invert(0.93) hue-rotate(180deg); mix-blend-mode: lighten; }
  :root {
    --paper: #15191c; --panel: #1d2327; --ink: #e3e8eb; --quiet: #93a0aa; --line: #2d353b;
    --accent: #5cb8ec; --soft: #17303f; --good: #4fc7a0; --good-soft: #12332a; --bad: #f0935a; --bad-soft: #3b2417;
    --faint: #4d5961; --shadow: #ffffff40;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 1340px; background: var(--paper); color: var(--ink);
  font: 16px/1.55 Inter, system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif;
}
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 0.9rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; letter-spacing: -0.01em; margin: 3.2rem 0 0.6rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2.2rem 0 0.5rem; }
h4 { font-size: 0.95rem; margin: 1.6rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
.done { max-width: 54rem; }
.summary { font-size: 1.14rem; line-height: 1.6; max-width: 54rem; margin: 1rem 0; padding: 0.7rem 1.1rem; background: var(--soft); border-left: 4px solid var(--accent); border-radius: 0 8px 8px 0; }
.note { max-width: 54rem; }
.status { max-width: 54rem; padding: 0.5rem 0.9rem; border-radius: 8px; background: var(--bad-soft); color: var(--bad); font-weight: 600; overflow-wrap: anywhere; }
.tiles-of { margin: 1rem 0 0; color: var(--quiet); font-size: 0.86rem; font-weight: 600; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.8rem; margin: 0.5rem 0 0.9rem; max-width: 68rem; }
.tiles > div { border: 1px solid var(--line); border-radius: 10px; padding: 0.7rem 0.9rem; min-width: 0; }
.tiles dt { color: var(--quiet); font-size: 0.8rem; overflow-wrap: anywhere; }
.tiles dd { margin: 0; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--quiet); font-size: 0.8rem; overflow-wrap: anywhere; }
.caption, .quiet { color: var(--quiet); font-size: 0.86rem; }
nav { margin: 1.4rem 0 0; font-size: 0.9rem; display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 0.9rem 2.4rem; margin: 1.4rem 0 0; }
.facts dt { color: var(--quiet); font-size: 0.8rem; }
.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 1.4rem 1.4rem; margin: 1.2rem 0; align-items: start; }
.pair { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 1fr); }
@media screen and (min-width: 1100px) {
  .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .pair .figures { grid-template-columns: repeat(auto-fill, minmax(min(250px, 100%), 1fr)); }
  .pair table { min-width: 0; width: 100%; }
  .pair th { white-space: normal; vertical-align: bottom; }
  .pair th, .pair td { padding-left: 0.35rem; padding-right: 0.35rem; }
}
figure { margin: 0; }
img { width: 100%; max-width: 440px; height: auto; display: block; }
@media screen { figure:has(canvas) > :is(img, .alt) { display: none; } }
button.sort { all: unset; cursor: pointer; }
button.sort:focus-visible, :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
th[aria-sort] { color: var(--ink); }
th[aria-sort=ascending] button::after { content: ' ↑'; }
th[aria-sort=descending] button::after { content: ' ↓'; }
/** A shadow at the right edge while more can be scrolled. */
.scroll {
  overflow-x: auto; margin: 1rem 0;
  background: linear-gradient(to left, var(--paper) 30%, transparent) right / 3rem 100% local no-repeat,
    radial-gradient(farthest-side at 100% 50%, var(--shadow), transparent) right / 0.9rem 100% no-repeat;
}
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; min-width: min(100%, 46rem); }
th { text-align: right; font-weight: 600; color: var(--quiet); font-size: 0.8rem; white-space: nowrap; }
td { text-align: right; white-space: nowrap; }
th, td { padding: 0.42rem 0.7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0.5rem; position: sticky; left: 0; background: var(--paper); }
td:first-child { white-space: normal; min-width: 7.5rem; overflow-wrap: anywhere; }
@media screen and (min-width: 700px) {
  table:has(th:nth-child(8)) td:first-child { min-width: 13rem; }
}
table:has(td.words) th { text-align: left; }
td.words { text-align: left; white-space: normal; min-width: min(16rem, 50vw); overflow-wrap: anywhere; }
td small { display: block; color: var(--quiet); font-size: 0.78rem; }
tr.own td { background: var(--soft); }
tr.own td:first-child { font-weight: 600; }
tr.own td:first-child small { font-weight: 400; }
.examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(470px, 100%), 1fr)); gap: 1.2rem; margin-top: 1.2rem; align-items: start; }
.example { border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; min-width: 0; overflow-wrap: anywhere; }
.example header { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.82rem; margin-bottom: 0.6rem; }
.verdict { padding: 0.05rem 0.55rem; border-radius: 99px; font-weight: 600; white-space: nowrap; }
.verdict.right { background: var(--good-soft); color: var(--good); }
.verdict.wrong { background: var(--bad-soft); color: var(--bad); }
.message { margin: 0.3rem 0; padding: 0.4rem 0.75rem; border-radius: 10px; background: var(--panel); font-size: 0.9rem; width: fit-content; max-width: 88%; }
.message.assistant { margin-left: auto; background: var(--soft); }
.earlier summary { cursor: pointer; color: var(--quiet); font-size: 0.82rem; }
details.set { margin: 1.6rem 0; border-top: 1px solid var(--line); padding-top: 0.6rem; }
details.set > summary { font-size: 1.08rem; font-weight: 600; }
.example.first { max-width: 66rem; margin: 0.2rem 0 0.9rem; padding: 0.7rem 0.9rem; }
[title] > dt, th[title], .plot-title:not([title=""]) { text-decoration: underline dotted; text-underline-offset: 0.2em; cursor: help; }
.example p { margin: 0.15rem 0; }
.example dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 0.6rem; margin: 0.6rem 0; font-size: 0.9rem; }
.example dt { color: var(--quiet); }
.example dd { margin: 0; min-width: 0; }
.said { border-top: 1px solid var(--line); padding: 0.6rem 0 0.4rem; font-size: 0.9rem; }
.said header { align-items: baseline; margin-bottom: 0.2rem; font-size: 0.9rem; }
.said details { display: inline-block; vertical-align: top; margin: 0.2rem 1rem 0.2rem 0; font-size: 0.82rem; }
.said details[open] { display: block; }
.said summary { color: var(--quiet); }
.said ol { margin: 0.3rem 0; padding-left: 1.8rem; }
.walks { font-size: 0.88rem; }
.walk { display: grid; grid-template-columns: 4.2rem 1fr; gap: 0.7rem; padding: 0.32rem 0; border-top: 1px solid var(--line); align-items: baseline; }
.walk .share { font-variant-numeric: tabular-nums; text-align: right; color: var(--quiet); font-size: 0.82rem; }
.share i { display: block; height: 3px; border-radius: 2px; background: var(--accent); margin-left: auto; min-width: 1px; }
.relation { color: var(--quiet); font-size: 0.82rem; white-space: nowrap; }
.hop.right b, .hit { color: var(--good); }
.hop.wrong b, .hop.wrong .relation { color: var(--bad); }
.hop b { font-weight: 500; }
pre { max-height: 24rem; overflow-y: auto; background: var(--panel); border-radius: 8px; padding: 0.8rem 1rem; overflow-x: auto; font-size: 0.82rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin: 0.5rem 0; }
details > summary { cursor: pointer; }
details.part { margin: 0; border-bottom: 1px solid var(--line); }
details.part > summary { padding: 0.45rem 0; font-size: 0.95rem; }
details.part[open] > summary { font-weight: 600; }
details.part[open] { padding-bottom: 1rem; }
@media (max-width: 600px) {
  body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .summary { font-size: 1.04rem; padding: 0.6rem 0.8rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 0.5rem; }
  .tiles > div { padding: 0.5rem 0.6rem; }
  .tiles b { font-size: 1.15rem; }
  .facts { gap: 0.7rem 1.6rem; }
  .example { padding: 0.8rem; }
  .walk { grid-template-columns: 3.4rem 1fr; gap: 0.5rem; }
}
@media print {
  pre { max-height: none; }
  :root { color-scheme: light; }
  nav, .plot-names, .plot-tools { display: none; }
  figure:has(> img) > .plot { display: none; }
  body { padding: 0; font-size: 10.5pt; }
  .example, figure, tr, .summary, .tiles { break-inside: avoid; }
  h2, h3, h4, summary { break-after: avoid; }
  .scroll { overflow: visible; background: none; }
  table { min-width: 0; width: 100%; font-size: 8pt; }
  th, td, td small, .relation { white-space: normal; overflow-wrap: anywhere; }
  th, td { padding: 0.2rem; font-size: inherit; }
  td small { font-size: 7pt; }
  th:first-child, td:first-child { position: static; min-width: 0; }
}

/* Charts. */
.plot { min-width: 0; position: relative; }
.plot-title { margin: 0 0 0.3rem; font-size: 0.85rem; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }
.plot-stage { position: relative; }
.plot-stage canvas { display: block; touch-action: pan-y; border-radius: 4px; cursor: crosshair; }
.plot-brush { position: absolute; pointer-events: none; background: var(--accent); opacity: 0.18; }
.plot-said { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.plot-names, .plot-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.1rem 0.15rem; font-size: 0.76rem; }
.plot button, .plot select { font: inherit; color: var(--ink); background: none; border: 0; border-radius: 5px; padding: 0.15rem 0.4rem; cursor: pointer; max-width: 100%; text-align: left; overflow-wrap: anywhere; }
.plot button:hover:enabled, .plot select:hover { background: var(--panel); }
.plot button:disabled { opacity: 0.4; cursor: default; }
.plot-names i { display: inline-block; width: 0.9rem; height: 3px; border-radius: 2px; margin-right: 0.35rem; vertical-align: middle; }
.plot-names i.level { height: 0; border-top: 2px dashed var(--quiet); background: none; }
.plot-names i.next { border-top-style: dotted; }
.plot-names button[aria-pressed=false] { opacity: 0.45; text-decoration: line-through; }
.plot-tools { color: var(--quiet); border-top: 1px solid var(--line); margin-top: 0.2rem; padding-top: 0.2rem; }
.plot-tools button, .plot-tools select { color: var(--quiet); field-sizing: content; }
.plot-tools button[aria-pressed=true] { color: var(--accent); font-weight: 600; background: var(--soft); }
.plot.bars .plot-tools { position: absolute; top: -0.25rem; right: 0; border: 0; margin: 0; padding: 0; }
.plot.bars .plot-title { padding-right: 2.8rem; }
.plot-tools label { display: inline-flex; align-items: center; gap: 0.3rem; padding: 0 0.3rem; }
.plot-tools input[type=range] { width: 4.5rem; height: 1rem; accent-color: var(--accent); }
@media (max-width: 600px) { .plot button, .plot select { padding: 0.4rem 0.5rem; } }
.axes { width: 100%; height: auto; display: block; font-size: 12px; }
.axes text { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; } .axes .quiet { fill: var(--quiet); font-size: 11px; }
.axes .axis { stroke: var(--line); stroke-width: 2; } .axes .tick { stroke: var(--quiet); }
.axes path { fill: none; stroke: var(--accent); stroke-width: 1.6; }
.axes path.stopped { stroke: var(--quiet); stroke-dasharray: 4 4; }
.axes path.best { stroke: var(--bad); stroke-width: 3.2; opacity: 1; }
.axes path:hover { stroke-width: 4; opacity: 1; }

/* Drawn walks. */
.walks-drawn { display: block; width: 100%; max-width: 420px; height: auto; margin: 0.4rem 0; font-size: 12px; }
.walks-drawn path { fill: none; stroke: var(--faint); stroke-linecap: round; }
.walks-drawn circle { fill: var(--paper); stroke: var(--faint); stroke-width: 2; }
.walks-drawn text { fill: var(--quiet); }
.walks-drawn .relation, .walks-drawn .share { fill: var(--quiet); font-weight: 400; font-size: 11px; }
.walks-drawn .start, .walks-drawn text.taken { fill: var(--ink); font-weight: 600; }
.walks-drawn circle.start { stroke: var(--ink); }
.walks-drawn path.taken { stroke: var(--accent); }
.walks-drawn circle.taken { stroke: var(--accent); fill: var(--accent); }
.walks-drawn path.gold { stroke: var(--good); }
.walks-drawn path.gold:not(.taken) { stroke-dasharray: 4 4; }
.walks-drawn circle.gold { stroke: var(--good); }
.walks-drawn circle.taken.gold { fill: var(--good); }
.walks-drawn text.gold { fill: var(--good); }
.walks-drawn path.wrong { stroke: var(--bad); }
.walks-drawn circle.wrong { stroke: var(--bad); fill: var(--bad); }
.walks-drawn text.wrong { fill: var(--bad); }
`;

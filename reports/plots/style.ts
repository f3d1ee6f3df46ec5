/** Style sheet of interactive charts; colours are the page's: `--ink`, `--quiet`, `--line`, `--accent`, `--soft`, `--panel`. */
export const plotStyle = `
.plot { min-width: 0; position: relative; }
.plot-title { margin: 0 0 0.3rem; font-size: 0.85rem; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }
.plot-stage { position: relative; }
.plot-stage canvas { display: block; touch-action: pan-y; border-radius: 4px; cursor: crosshair; }
.plot-stage canvas:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.plot-brush { position: absolute; pointer-events: none; background: var(--accent); opacity: 0.18; }
.plot-said { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.plot-names, .plot-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.1rem 0.15rem; font-size: 0.76rem; }
.plot button, .plot select { font: inherit; color: var(--ink); background: none; border: 0; border-radius: 5px; padding: 0.15rem 0.4rem; cursor: pointer; max-width: 100%; text-align: left; overflow-wrap: anywhere; }
.plot button:hover:enabled, .plot select:hover { background: var(--panel); }
.plot button:focus-visible, .plot select:focus-visible, .plot input:focus-visible { outline: 2px solid var(--accent); }
.plot button:disabled { opacity: 0.4; cursor: default; }
.plot-names i { display: inline-block; width: 0.9rem; height: 3px; border-radius: 2px; margin-right: 0.35rem; vertical-align: middle; }
.plot-names i.level { height: 0; border-top: 2px dashed var(--quiet); background: none; }
.plot-names i.next { border-top-style: dotted; }
.plot-names button[aria-pressed=false] { opacity: 0.45; text-decoration: line-through; }
.plot-tools { color: var(--quiet); border-top: 1px solid var(--line); margin-top: 0.2rem; padding-top: 0.2rem; }
.plot-tools button, .plot-tools select { color: var(--quiet); }
.plot-tools button[aria-pressed=true] { color: var(--accent); font-weight: 600; background: var(--soft); }
.plot.bars .plot-tools { position: absolute; top: -0.25rem; right: 0; border: 0; margin: 0; padding: 0; }
.plot.bars .plot-title { padding-right: 2.8rem; }
.plot-tools label { display: inline-flex; align-items: center; gap: 0.3rem; padding: 0 0.3rem; }
.plot-tools input[type=range] { width: 4.5rem; height: 1rem; accent-color: var(--accent); }
@media (max-width: 600px) { .plot button, .plot select { padding: 0.4rem 0.5rem; } }
`;

/** Style of a sweep's parallel axes. */
export const axesStyle = `
.axes { width: 100%; height: auto; display: block; font-size: 12px; }
.axes text { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; } .axes .quiet { fill: var(--quiet); font-size: 11px; }
.axes .axis { stroke: var(--line); stroke-width: 2; } .axes .tick { stroke: var(--quiet); }
.axes path { fill: none; stroke: var(--accent); stroke-width: 1.6; }
.axes path.stopped { stroke: var(--quiet); stroke-dasharray: 4 4; }
.axes path.best { stroke: var(--bad); stroke-width: 3.2; opacity: 1; }
.axes path:hover { stroke-width: 4; opacity: 1; }
`;

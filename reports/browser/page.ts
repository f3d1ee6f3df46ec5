/** Script of a `kgwalk report` page: replaces pictures by interactive charts and makes tables sortable. */
import type { Plot } from '../plots/plot.js';
import { drawChart } from './charts.js';

/**
 * Draws every `[data-plot]`: the index of its plot in `<script type="application/json" id="plots">`. The picture inside is kept for print.
 */
export function openPage(): void {
  const json = document.getElementById('plots')?.textContent;
  const plots = json ? (JSON.parse(json) as Plot[]) : [];
  for (const figure of document.querySelectorAll<HTMLElement>('[data-plot]')) {
    const { plot, alt, name } = figure.dataset;
    const host = document.createElement('div');
    figure.prepend(host);
    drawChart(host, plots[Number(plot)]!, { alt: figure.querySelector('img')?.alt ?? alt, fileName: name });
  }
  sortableTables(document);
}

/** Adds sort buttons to the headers of every table with two rows or more; a second press reverses the order. */
function sortableTables(within: ParentNode): void {
  for (const table of within.querySelectorAll('table')) {
    const [body] = table.tBodies;
    if (!body || body.rows.length < 2) continue;
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        // Numbers descend at first, names ascend.
        const first = isNumeric(body, column) ? 'descending' : 'ascending';
        const other = first === 'ascending' ? 'descending' : 'ascending';
        const way = head.getAttribute('aria-sort') === first ? other : first;
        for (const one of heads) one.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', way);
        body.append(...ordered([...body.rows], column, way === 'ascending' ? 1 : -1));
      });
    });
  }
}

const textOf = (row: HTMLTableRowElement, column: number) => row.cells[column]?.firstChild?.textContent?.trim() ?? '';

/** Leading number of a cell: `14,213`, `5.1 s`, `−2.1`; NaN for words. */
function numberOf(text: string): number {
  const [, sign, digits] = /^([+−-]?)([\d,]*\.?\d+(?:e-?\d+)?)/.exec(text) ?? [];
  if (digits === undefined) return NaN;
  const seconds = /(ms|s|min|h)$/.exec(text.split(/\d /).length > 2 ? '' : text)?.[1];
  const unit = { ms: 1e-3, min: 60, h: 3600 }[seconds ?? ''] ?? 1;
  return Number(digits.replaceAll(',', '')) * unit * (sign === '-' || sign === '−' ? -1 : 1);
}

function isNumeric(body: HTMLTableSectionElement, column: number): boolean {
  return [...body.rows].some((row) => Number.isFinite(numberOf(textOf(row, column))));
}

/** Cells without a value come last in both directions. */
function ordered(rows: HTMLTableRowElement[], column: number, way: 1 | -1): HTMLTableRowElement[] {
  const isNumber = rows.some((row) => Number.isFinite(numberOf(textOf(row, column))));
  return rows
    .map((row) => ({ row, text: textOf(row, column), value: numberOf(textOf(row, column)) }))
    .sort((a, b) => {
      if (a.text === '' || b.text === '') return Number(a.text === '') - Number(b.text === '');
      if (!isNumber) return way * a.text.localeCompare(b.text, 'en', { numeric: true });
      const [p, q] = [a, b].map(({ value }) => (Number.isFinite(value) ? value : way * -Infinity));
      return way * (p! - q!) || 0;
    })
    .map(({ row }) => row);
}

/** Script of a `kgwalk report` page: replaces pictures by interactive charts and makes tables sortable. */
import type { Plot } from '../plots/plot.js';
import { drawChart } from './charts.js';
import { sortableTables } from './tables.js';

/**
 * Draws every `[data-plot]`: the index of its plot in `<script type="application/json" id="plots">`. The picture inside
 * is kept for print. A chart is drawn when it comes near the viewport.
 */
export function openPage(): void {
  const json = document.getElementById('plots')?.textContent;
  const plots = json ? (JSON.parse(json) as Plot[]) : [];
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        draw(target as HTMLElement, plots);
      }
    },
    { rootMargin: '600px' },
  );
  for (const one of document.querySelectorAll<HTMLElement>('[data-plot]')) near.observe(one);
  sortableTables(document);
}

function draw(figure: HTMLElement, plots: readonly Plot[]): void {
  const plot = plots[Number(figure.dataset.plot)];
  if (!plot) return;
  const picture = figure.querySelector('img');
  const host = document.createElement('div');
  figure.prepend(host);
  drawChart(host, plot, {
    ...(figure.dataset.alt !== undefined && { alt: figure.dataset.alt }),
    ...(picture && { alt: picture.alt }),
    ...(figure.dataset.name !== undefined && { fileName: figure.dataset.name }),
  });
  figure.classList.add('drawn');
}

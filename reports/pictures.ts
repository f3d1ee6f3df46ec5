/** Charts as PNG files beside the page, and as pictures inside it. */
import { join } from 'node:path';
import { writeFileAtomic } from '../src/run/files.js';
import { renderPng } from './canvas.js';
import type { ChartGroup } from './figures.js';
import type { FigureGroup, Picture } from './html.js';

export type Draw = (charts: readonly ChartGroup[]) => Promise<FigureGroup[]>;

/** @param pictures the files that were written are added here */
export function pictureDrawer(to: string, pictures: string[]): Draw {
  return async (charts) => {
    const drawn: FigureGroup[] = [];
    for (const { charts: named, ...group } of charts) {
      const views: Picture[] = [];
      for (const { name, alt, chart } of named) {
        const png = await renderPng(chart.config, chart.size);
        const file = join(to, `${name.replace(/[^\w@-]+/g, '-')}.png`);
        writeFileAtomic(file, png);
        pictures.push(file);
        views.push({ source: `data:image/png;base64,${Buffer.from(png).toString('base64')}`, alt, ...chart.size });
      }
      drawn.push({ ...group, pictures: views });
    }
    return drawn;
  };
}

/** Charts as PNG files beside the page, and as pictures inside it that follow day and night. */
import { join } from 'node:path';
import { writeFileAtomic } from '../src/run/files.js';
import { renderPng } from './canvas.js';
import type { Chart } from './charts.js';
import type { FigureGroup, Picture } from './html.js';
import { dark, light } from './theme.js';

/** A chart with the name of its file and a text for those who do not see it. */
export interface NamedChart {
  /** File name without its ending. */
  name: string;
  /** What the picture shows and says, for who cannot see it. */
  alt: string;
  chart: Chart;
}

/** Charts under one caption. */
export interface ChartGroup {
  heading?: string;
  caption: string;
  charts: NamedChart[];
  /** Drawn for the day alone: by night the page inverts them. */
  minor?: boolean;
}

/** Draws charts by day and by night, and keeps those of the day as files. */
export type Draw = (charts: readonly ChartGroup[]) => Promise<FigureGroup[]>;

/** @param pictures the files that were written are added here: the light ones; the dark ones are in the page alone */
export function pictureDrawer(to: string, pictures: string[]): Draw {
  return async (groups) => {
    const drawn: FigureGroup[] = [];
    for (const { charts, minor = false, ...group } of groups) {
      const views: Picture[] = [];
      for (const { name, alt, chart } of charts) {
        const day = await pngOf(chart, light);
        const night = minor ? undefined : await pngOf(chart, dark);
        const file = join(to, `${fileName(name, pictures.length)}.png`);
        writeFileAtomic(file, day);
        pictures.push(file);
        views.push({ source: dataUri(day), ...(night && { dark: dataUri(night) }), alt, ...chart.size });
      }
      drawn.push({ ...group, pictures: views });
    }
    return drawn;
  };
}

/** Names of data sets are of any length, those of files are not. @param count tells long ones apart */
function fileName(name: string, count: number): string {
  const plain = name.replace(/[^\w@-]+/g, '-');
  return plain.length <= longestName ? plain : `${plain.slice(0, longestName)}-${count}`;
}

const longestName = 150;

function pngOf({ config, size }: Chart, theme: typeof light): Promise<Uint8Array> {
  return renderPng(config(theme), size, theme.paper);
}

function dataUri(png: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
}

/** Opens the canvas and the fonts for charts. The only file that does. */
import { join } from 'node:path';
import type { ChartConfiguration } from 'chart.js';
import type { ChartJSNodeCanvas } from 'chartjs-node-canvas';
import { WorkbenchError } from '../src/run/errors.js';
import { packageRoot } from '../src/run/locations.js';
import { chartFont } from './plots/chart.js';

/** Next to `reports/` in the package; licence in the same folder. */
const fontFiles = ['Inter-Regular.woff2', 'Inter-Bold.woff2'];

let opening: Promise<ChartJSNodeCanvas> | undefined;

/**
 * One renderer serves every chart, because each new one keeps memory.
 * @throws {WorkbenchError} `native` where the canvas or its font cannot be loaded
 */
export function openCanvas(): Promise<ChartJSNodeCanvas> {
  return (opening ??= open());
}

async function open(): Promise<ChartJSNodeCanvas> {
  try {
    const { GlobalFonts } = await import('@napi-rs/canvas');
    for (const file of fontFiles) {
      const path = join(packageRoot(), 'reports', 'fonts', file);
      if (!GlobalFonts.registerFromPath(path, chartFont)) throw new Error(`no font that it reads at ${path}`);
    }
    const { ChartJSNodeCanvas } = await import('chartjs-node-canvas');
    return new ChartJSNodeCanvas({ width: 80, height: 40 });
  } catch (cause) {
    throw noCanvas((cause as Error).message.split('\n')[0]!, cause);
  }
}

function noCanvas(got: string, cause?: unknown): WorkbenchError {
  const hint =
    'Install kgwalk again, with the optional packages of this platform: `npm install @napi-rs/canvas` brings them.';
  return new WorkbenchError('native', `expected a canvas to draw charts on, got ${got}`, { hint, cause });
}

/**
 * Checks drawing with two letters.
 * @returns scripts that would be drawn as boxes because this machine has no font for them
 * @throws {WorkbenchError} `native` if charts would be blank or cannot be drawn
 */
export async function tryCanvas(): Promise<string[]> {
  const canvas = await openCanvas();
  const drawn = (text: string) => Buffer.from(canvas.renderToBufferSync(titled(text), 'raw' as 'image/png'));
  if (drawn('A').equals(drawn('V'))) throw noCanvas('one that draws no letters');
  const box = drawn(unassigned);
  return Object.entries(scripts).flatMap(([script, letter]) => (drawn(letter).equals(box) ? [script] : []));
}

/** A character that no font covers. */
const unassigned = '\u{10FFFE}';

const scripts = { Chinese: '\u4E2D', Japanese: '\u3042', Korean: '\uD55C' };

function titled(text: string): ChartConfiguration {
  const title = { display: true, text, font: { family: chartFont, size: 20 } };
  const options = { animation: false as const, events: [], plugins: { title, legend: { display: false } } };
  return { type: 'bar', data: { labels: [], datasets: [] }, options };
}

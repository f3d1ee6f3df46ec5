/** The one place that draws: chart.js on a canvas, loaded when the first chart is asked for. */
import type { ChartConfiguration, Plugin } from 'chart.js';
import type { ChartJSNodeCanvas } from 'chartjs-node-canvas';
import { WorkbenchError } from '../src/run/errors.js';
import { indexedPng } from './indexed-png.js';

/** Of a picture, in CSS pixels. */
export interface Size {
  /** CSS pixels; the picture has twice as many each way. */
  width: number;
  height: number;
}

const pixelRatio = 2;

let renderer: Promise<ChartJSNodeCanvas> | undefined;

/**
 * Draws a chart as PNG. One renderer serves every chart, because each new one keeps memory.
 * @param paper colour behind it
 * @throws {WorkbenchError} `native` where the canvas cannot be loaded or the machine has no font to write with
 */
export async function renderPng(config: ChartConfiguration, size: Size, paper: string): Promise<Uint8Array> {
  renderer ??= load();
  const { options, plugins } = config;
  const pixels = (await renderer).renderToBufferSync(
    {
      ...config,
      options: { ...options, responsive: false, maintainAspectRatio: false, devicePixelRatio: pixelRatio },
      plugins: [sized(size), filled(paper), ...(plugins ?? [])],
    },
    // Bytes as they are, which its types do not list.
    'raw' as 'image/png',
  );
  return indexedPng(pixels, pixelRatio * size.width, pixelRatio * size.height);
}

async function load(): Promise<ChartJSNodeCanvas> {
  try {
    const { GlobalFonts } = await import('@napi-rs/canvas');
    if (GlobalFonts.families.length === 0) throw new Error('no fonts');
    const { ChartJSNodeCanvas } = await import('chartjs-node-canvas');
    return new ChartJSNodeCanvas({ width: 1, height: 1 });
  } catch (cause) {
    const message = `expected a canvas to draw charts on, got ${(cause as Error).message}`;
    const hint =
      'Install the optional packages of this platform (`npm install @napi-rs/canvas`) and a font such as fonts-dejavu-core.';
    throw new WorkbenchError('native', message, { hint, cause });
  }
}

/** The renderer has one size; each chart takes its own before anything is laid out. */
function sized({ width, height }: Size): Plugin {
  return { id: 'sized', beforeInit: (chart) => chart.resize(width, height) };
}

function filled(color: string): Plugin {
  return {
    id: 'filled',
    beforeDraw({ ctx, width, height }) {
      ctx.save();
      ctx.fillStyle = color;
      ctx.fillRect(0, 0, width, height);
      ctx.restore();
    },
  };
}

/** Charts as PNG files next to the page; the page embeds the plots, and pictures of the larger ones for print. No other file opens the canvas. */
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { ChartConfiguration, Plugin } from 'chart.js';
import type { ChartJSNodeCanvas } from 'chartjs-node-canvas';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { packageRoot } from '../src/run/locations.js';
import type { FigureGroup, Picture } from './html.js';
import { chartFont, light, type Size } from './plots/chart.js';
import { configOf, sizeOf } from './plots/config.js';
import type { Plot } from './plots/plot.js';

/** A chart with its file name and alternative text. */
export interface NamedChart {
  /** File name without its ending. */
  name: string;
  /** Alternative text. */
  alt: string;
  plot: Plot;
}

/** Charts under one caption. */
export interface ChartGroup {
  heading?: string | undefined;
  caption: string;
  charts: NamedChart[];
  /** Embeds the plots only, without pictures for print and for readers without scripts. */
  minor?: boolean;
}

/** Draws charts in light mode and writes them to files. */
export type Draw = (charts: readonly ChartGroup[]) => Promise<FigureGroup[]>;

/** Output of drawing. */
export interface Drawn {
  /** Paths of the written files. */
  pictures: string[];
  /** By chart index on the page. */
  plots: Plot[];
}

/** @param drawn output is appended here */
export function pictureDrawer(to: string, { pictures, plots }: Drawn): Draw {
  return async (groups) => {
    const drawn: FigureGroup[] = [];
    for (const { charts, minor = false, ...group } of groups) {
      const views: Picture[] = [];
      for (const { name, alt, plot } of charts) {
        const png = await pngOf(plot);
        const plain = fileName(name, pictures.length);
        const file = join(to, `${plain}.png`);
        writeFileAtomic(file, png);
        pictures.push(file);
        const source = minor ? undefined : dataUri(png);
        views.push({ plot: plots.push(plot) - 1, name: plain, alt, source, ...sizeOf(plot) });
      }
      drawn.push({ ...group, pictures: views });
    }
    return drawn;
  };
}

/** A plot as PNG in light mode. */
export const pngOf = (plot: Plot): Promise<Uint8Array> => renderPng(configOf(plot, light), sizeOf(plot), light.paper);

/** Shortens names of data sets for file names. @param count appended to long names to keep them distinct */
function fileName(name: string, count: number): string {
  const plain = name.replace(/[^\w@-]+/g, '-');
  return plain.length <= longestName ? plain : `${plain.slice(0, longestName)}-${count}`;
}

const longestName = 150;

const dataUri = (png: Uint8Array): string => `data:image/png;base64,${Buffer.from(png).toString('base64')}`;

const pixelRatio = 2;

/** Draws a chart as PNG. @param paper background colour @throws {WorkbenchError} `native` if the canvas cannot be loaded */
export async function renderPng(config: ChartConfiguration, size: Size, paper: string): Promise<Uint8Array> {
  const { options, plugins } = config;
  const pixels = (await openCanvas()).renderToBufferSync(
    {
      ...config,
      options: { ...options, responsive: false, maintainAspectRatio: false, devicePixelRatio: pixelRatio },
      plugins: [sized(size), filled(paper), ...(plugins ?? [])],
    },
    // Raw bytes, which its types do not list.
    'raw' as 'image/png',
  );
  return indexedPng(pixels, pixelRatio * size.width, pixelRatio * size.height);
}

/** The renderer has one size; each chart sets its own before layout. */
function sized({ width, height }: Size): Plugin {
  return { id: 'sized', beforeInit: (chart) => chart.resize(width, height) };
}

const filled = (color: string): Plugin => ({
  id: 'filled',
  beforeDraw({ ctx, width, height }) {
    ctx.save();
    ctx.fillStyle = color;
    ctx.fillRect(0, 0, width, height);
    ctx.restore();
  },
});

/** Next to `reports/` in the package; licence in the same folder. */
const fontFiles = ['Inter-Regular.woff2', 'Inter-Bold.woff2'];

let opening: Promise<ChartJSNodeCanvas> | undefined;

/**
 * One renderer serves every chart, because each new one keeps memory.
 * @throws {WorkbenchError} `native` where the canvas or its font cannot be loaded
 */
export const openCanvas = (): Promise<ChartJSNodeCanvas> => (opening ??= open());

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

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Encodes an opaque picture with at most 256 colours: shades that agree in their leading bits are merged into the first
 * one found, with as many bits as fit.
 * @param pixels RGBA, uint8 [height × width × 4], rows from the top; alpha is ignored
 */
export function indexedPng(pixels: Uint8Array, width: number, height: number): Buffer {
  let bits = 5;
  let quantized = quantize(pixels, bits);
  while (!quantized) quantized = quantize(pixels, --bits);
  const { indices, palette } = quantized;
  // Each row begins with its filter: none.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette)),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...chunks]);
}

/** @returns undefined if `bits` per channel leave more than 256 colours */
function quantize(pixels: Uint8Array, bits: number): { indices: Uint8Array; palette: number[] } | undefined {
  const shift = 8 - bits;
  const indexOf = new Int16Array(1 << (3 * bits)).fill(-1);
  const indices = new Uint8Array(pixels.length / 4);
  const palette: number[] = [];
  // Most pixels are as the one before.
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, indices.length);
  for (let i = 0, p = 0; i < indices.length; i++, p += 4) {
    if (i > 0 && words[i] === words[i - 1]) {
      indices[i] = indices[i - 1]!;
      continue;
    }
    const [r, g, b] = [pixels[p]!, pixels[p + 1]!, pixels[p + 2]!];
    const key = ((r >> shift) << (2 * bits)) | ((g >> shift) << bits) | (b >> shift);
    if (indexOf[key]! < 0) {
      if (palette.length === 3 * 256) return undefined;
      indexOf[key] = palette.length / 3;
      palette.push(r, g, b);
    }
    indices[i] = indexOf[key]!;
  }
  return { indices, palette };
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}

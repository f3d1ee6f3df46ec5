/** `kgwalk cache info|clear`: cached text vectors and cached replies of SPARQL endpoints. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CacheInfo } from '../src/encoder/encoder-cache.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { printJson, printLine, printTable } from './output.js';

type ClearOptions = { yes?: boolean; json?: boolean };

/** Adds `kgwalk cache`. */
export function register(program: Command): void {
  const command = program
    .command('cache')
    .description('show or delete cached text vectors and cached replies of graph endpoints');
  command
    .command('info')
    .alias('show')
    .description('count vectors, by encoder, and graphs')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const [info, graphs] = [await readInfo(), graphsKept()];
      if (json) return printJson({ ...info, graphs });
      if (info.entries > 0) {
        printTable(
          info.encoders.map((one) => ({
            encoder: one.name,
            vectors: one.entries,
            dim: one.dim,
            MiB: mebibytes(one.bytes),
            mode: one.mode,
            id: one.id,
          })),
        );
      }
      printLine(`${info.entries} vectors, ${mebibytes(info.bytes)} MiB, in ${info.folder}`);
      if (graphs.entries > 0) printLine(`${graphsOf(graphs)}, ${mebibytes(graphs.bytes)} MiB, in ${graphs.folder}`);
    });
  command
    .command('clear')
    .description('delete the whole cache; vectors and replies are computed or fetched again when needed')
    .option('--yes', 'confirm the deletion')
    .option('--json', 'print JSON')
    .action(clear);
}

async function clear({ yes, json }: ClearOptions): Promise<void> {
  const [info, graphs] = [await readInfo(), graphsKept()];
  if (!yes && info.entries + graphs.entries > 0) {
    const all = `${info.entries} vectors${graphs.entries > 0 ? ` and ${graphsOf(graphs)}` : ''}`;
    throw new WorkbenchError('usage', `expected --yes to delete ${all}, at ${info.folder}`, {
      hint: 'Run `kgwalk cache clear --yes`. Making them again can take minutes.',
    });
  }
  const { hasEncoderCache, openEncoderCache } = await import('../src/encoder/encoder-cache.js');
  const folder = cacheFolder();
  const cleared = hasEncoderCache(folder) ? await (await openEncoderCache(folder)).clear() : 0;
  // A process that has one open keeps its unlinked files.
  rmSync(graphs.folder, { recursive: true, force: true });
  if (json) printJson({ folder: info.folder, cleared, clearedGraphs: graphs.entries });
  else printLine(`${cleared} vectors deleted from ${info.folder}`);
  if (!json && graphs.entries > 0) printLine(`${graphsOf(graphs)} deleted from ${graphs.folder}`);
}

/** Graphs with cached replies, and their bytes on disk. */
function graphsKept() {
  const folder = join(cacheFolder(), 'graphs');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const sizes = names.map((name) => statSync(join(folder, name, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0);
  return { folder, entries: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

const graphsOf = ({ entries }: { entries: number }) => `answers of ${entries} graph${entries === 1 ? '' : 's'}`;

/** Creates no folder. */
async function readInfo(): Promise<CacheInfo> {
  const { hasEncoderCache, openEncoderCache } = await import('../src/encoder/encoder-cache.js');
  const folder = cacheFolder();
  if (!hasEncoderCache(folder)) return { folder, entries: 0, bytes: 0, encoders: [] };
  const cache = await openEncoderCache(folder);
  try {
    return cache.info();
  } finally {
    await cache.close();
  }
}

const mebibytes = (bytes: number): number => Number((bytes / 2 ** 20).toFixed(1));

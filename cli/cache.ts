/** `kgwalk cache info|pack|fill|clear`: text vectors, and what was asked of graphs behind endpoints, kept on disk. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CacheInfo, EncoderCache } from '../src/encoder/encoder-cache.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { printJson, printLine, printTable } from './output.js';

interface ClearOptions {
  yes?: boolean;
  json?: boolean;
}

/** Adds `kgwalk cache`. */
export function register(program: Command): void {
  const command = program
    .command('cache')
    .description('show, copy or delete what is kept on disk: text vectors, and answers of graphs behind endpoints');
  command
    .command('info')
    .description('how many vectors there are, by encoder, and how many graphs')
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
    .command('pack <place>')
    .description(
      'write vectors that no pack of a folder, or of s3://BUCKET/PREFIX, has into files that other machines can take: packs',
    )
    .option('--json', 'print JSON')
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const written = await withCache(({ writePacks }, cache, signal) =>
        placed(folder, (here) => writePacks(cache, here, { signal })),
      );
      if (json) return printJson({ folder, ...written });
      printLine(`${written.vectors} vectors in ${written.packs} new packs, in ${folder}`);
    });
  command
    .command('fill <place>')
    .description('keep the vectors of the packs of a folder, or of s3://BUCKET/PREFIX')
    .option('--json', 'print JSON')
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const read = await withCache(({ readPacks }, cache, signal) =>
        placed(folder, (here) => readPacks(cache, here, signal)),
      );
      if (json) return printJson({ folder, ...read });
      printLine(`${read.vectors} new vectors of ${read.packs} packs; ${read.known} were there`);
    });
  command
    .command('clear')
    .description('delete all of it; vectors are computed again, and endpoints asked again, when that is needed')
    .option('--yes', 'do it')
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
  // Whoever has one open goes on in files that have no name.
  rmSync(graphs.folder, { recursive: true, force: true });
  if (json) printJson({ folder: info.folder, cleared, clearedGraphs: graphs.entries });
  else printLine(`${cleared} vectors deleted from ${info.folder}`);
  if (!json && graphs.entries > 0) printLine(`${graphsOf(graphs)} deleted from ${graphs.folder}`);
}

/** Works in a folder, or in one with the packs of a bucket. */
async function placed<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (!place.startsWith('s3://')) return work(place);
  return (await import('../jobs/store.js')).mirrored(place, 'packs/', work);
}

async function withCache<T>(
  work: (
    packs: typeof import('../src/encoder/vector-packs.js'),
    cache: EncoderCache,
    signal: AbortSignal,
  ) => Promise<T>,
): Promise<T> {
  const { terminalWork } = await import('./terminal.js');
  const { signal } = terminalWork();
  const { openEncoderCache } = await import('../src/encoder/encoder-cache.js');
  const cache = await openEncoderCache(cacheFolder());
  try {
    return await work(await import('../src/encoder/vector-packs.js'), cache, signal);
  } finally {
    await cache.close();
  }
}

/** Graphs behind endpoints of which answers are kept, and their bytes on disk. */
function graphsKept() {
  const folder = join(cacheFolder(), 'graphs');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const sizes = names.map((name) => statSync(join(folder, name, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0);
  return { folder, entries: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

const graphsOf = ({ entries }: { entries: number }) => `answers of ${entries} graph${entries === 1 ? '' : 's'}`;

/** Looking makes no folder. */
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

function mebibytes(bytes: number): number {
  return Number((bytes / 2 ** 20).toFixed(1));
}

/** `kgwalk cache info|clear`: the text vectors kept on disk. */
import type { Command } from 'commander';
import type { CacheInfo } from '../src/encoder/encoder-cache.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { printJson, printLine, printTable } from './output.js';

interface ClearOptions {
  yes?: boolean;
  json?: boolean;
}

/** Adds `kgwalk cache`. */
export function register(program: Command): void {
  const command = program.command('cache').description('show or delete the text vectors kept on disk');
  command
    .command('info')
    .description('how many vectors there are, by encoder')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const info = await readInfo();
      if (json) return printJson(info);
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
    });
  command
    .command('clear')
    .description('delete all vectors; they are computed again when they are needed')
    .option('--yes', 'do it')
    .option('--json', 'print JSON')
    .action(clear);
}

async function clear({ yes, json }: ClearOptions): Promise<void> {
  const info = await readInfo();
  if (!yes && info.entries > 0) {
    throw new WorkbenchError('usage', `expected --yes to delete ${info.entries} vectors, at ${info.folder}`, {
      hint: 'Run `kgwalk cache clear --yes`. Encoding them again can take minutes.',
    });
  }
  const { hasEncoderCache, openEncoderCache } = await import('../src/encoder/encoder-cache.js');
  const folder = cacheFolder();
  const cleared = hasEncoderCache(folder) ? await (await openEncoderCache(folder)).clear() : 0;
  if (json) printJson({ folder: info.folder, cleared });
  else printLine(`${cleared} vectors deleted from ${info.folder}`);
}

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

/**
 * Compiles the kernels of `assembly/` to `kernels.wasm`, next to the module that loads it: here for tests, which run from
 * sources, and in `dist` for the program. `npm run build` runs it, and jest where the file is absent or older than its
 * sources.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, pid } from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = import.meta.dirname;
const root = join(folder, '..', '..', '..');
const sources = join(folder, 'assembly');
const built = join(folder, 'kernels.wasm');

const options = [
  // No heap and no collector: TypeScript lays memory out. No relaxed SIMD: its results depend on the processor.
  ...['--runtime', 'stub', '--enable', 'simd,threads', '-O3', '--noAssert'],
  // The memory is given by the loader and shared by threads.
  ...['--importMemory', '--sharedMemory', '--noExportMemory', '--initialMemory', '1', '--maximumMemory', '65536'],
];

/** Returns whether `kernels.wasm` is absent, or older than what it is made from. */
function stale() {
  if (!existsSync(built)) return true;
  const { mtimeMs } = statSync(built);
  const files = readdirSync(sources).map((name) => join(sources, name));
  return [import.meta.filename, ...files].some((file) => statSync(file).mtimeMs > mtimeMs);
}

/** Imports end in `.ts`, as TypeScript wants for `Kernels`; AssemblyScript adds it itself. Decorators of functions stand in comments. */
function readFile(name, folder) {
  const file = join(folder, name);
  if (!existsSync(file)) return null;
  const source = readFileSync(file, 'utf8').replace(/(from '\.\/[\w-]+)\.ts'/g, "$1'");
  return source.replace(/^\/\/ (@inline)$/gm, '$1');
}

/** @throws where the sources do not compile; the compiler's messages go to stderr */
export async function compileKernels() {
  if (!stale()) return;
  const { main } = await import('assemblyscript/asc');
  // Others may be building too: the file gets its name once it is whole.
  const unnamed = `${built}.${pid}`;
  const paths = [join(sources, 'index.ts'), '--outFile', unnamed].map((path) =>
    path.startsWith('--') ? path : relative(root, path),
  );
  try {
    const { error, stderr } = await main([...paths, '--baseDir', root, ...options], { readFile });
    if (error) throw new Error(`the SIMD kernels do not compile: ${error.message}\n${stderr.toString()}`);
    renameSync(unnamed, built);
  } finally {
    rmSync(unnamed, { force: true });
  }
}

/** Compiles them and puts them into `dist`. */
export async function buildKernels() {
  await compileKernels();
  const target = join(root, 'dist', relative(root, folder));
  mkdirSync(target, { recursive: true });
  copyFileSync(built, join(target, 'kernels.wasm'));
}

if (argv[1] === fileURLToPath(import.meta.url)) await buildKernels();

/** TensorFlow wheels: selection, extraction, and running the tools required for the build. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { arch, env } from 'node:process';
import { WorkbenchError } from '../../src/run/errors.js';
import { makeFolder } from '../../src/run/files.js';

interface ToolOptions {
  /** Ends the tool. */
  signal?: AbortSignal | undefined;
  variables?: Record<string, string>;
}

/** Runs a tool without a shell. The status is null if it could not be started or was stopped. */
export async function runTool(tool: string, words: readonly string[], { signal, variables }: ToolOptions = {}) {
  const child = spawn(tool, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, ...variables }, signal });
  const result = { status: null as number | null, out: '', errors: '' };
  child.stdout.on('data', (text) => (result.out += String(text)));
  child.stderr.on('data', (text) => (result.errors += String(text)));
  try {
    [result.status] = (await once(child, 'close')) as [number | null];
  } catch (error) {
    result.errors += String((error as Error).message);
  }
  return result;
}

/**
 * Runs a tool that must succeed.
 * @param what purpose, for the error
 * @returns its standard output
 * @throws WorkbenchError `native` with the last lines of its output
 */
export async function mustRun(
  what: string,
  tool: string,
  words: readonly string[],
  options: ToolOptions = {},
): Promise<string> {
  const { status, out, errors } = await runTool(tool, words, options);
  if (status === 0) return out;
  const last = errors.trim().split('\n').slice(-5).join('\n');
  throw new WorkbenchError('native', `expected ${what} to succeed, got this from ${tool}:\n${last}`, {
    hint: 'Nothing was changed. Mend what it says and run the command again; training works without it, on wasm.',
  });
}

/** Versions known to work with the addon of tfjs-node 4.22.0; the GPU build requires CUDA 12.5 and cuDNN 9. */
const releases = { cpu: 'tensorflow-cpu==2.16.2', gpu: 'tensorflow==2.18.1' } as const;

const machine = arch === 'arm64' ? 'aarch64' : 'x86_64';

/** Downloads wheels by pip into `folder`. @returns their files */
export async function downloadWheels(
  names: readonly string[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  makeFolder(folder);
  const platforms = ['manylinux_2_17', 'manylinux2014', 'manylinux_2_27'].flatMap((name) => [
    '--platform',
    `${name}_${machine}`,
  ]);
  const words = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
  await mustRun(
    `downloading ${names.join(', ')}`,
    'python3',
    [...words, '--only-binary=:all:', '--python-version', '3.10', ...platforms, '--dest', folder, ...names],
    { signal },
  );
  return readdirSync(folder).map((name) => join(folder, name));
}

/** The TensorFlow wheel to download. */
export function tensorflowWheel(gpu: boolean): string {
  // On ARM the plain wheel is the one for the processor.
  if (!gpu && machine === 'aarch64') return releases.cpu.replace('-cpu', '');
  return gpu ? releases.gpu : releases.cpu;
}

/** CUDA wheels required by a TensorFlow wheel, as pip requirements. */
export async function cudaWheels(tensorflow: string): Promise<string[]> {
  const metadata = await mustRun('reading the wheel', 'unzip', ['-p', tensorflow, '*.dist-info/METADATA']);
  return [...metadata.matchAll(/^Requires-Dist: (nvidia-[\w-]+) ?\(?==([\w.]+)\)?\s*;.*and-cuda/gm)].map(
    ([, name, version]) => `${name}==${version}`,
  );
}

/**
 * Takes the libraries (and of TensorFlow the headers) out of a wheel.
 * @throws WorkbenchError `native` for a file that is no such wheel
 */
export async function unpackWheel(file: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const ofCuda = basename(file).startsWith('nvidia');
  const parts = ofCuda ? ['nvidia/*/lib/*'] : ['tensorflow/libtensorflow*', 'tensorflow/include/*'];
  await mustRun(`unpacking ${file}`, 'unzip', ['-qo', file, ...parts, '-d', folder], { signal });
  if (!ofCuda && !readdirSync(join(folder, 'tensorflow')).includes('libtensorflow_cc.so.2')) {
    throw new WorkbenchError('native', `expected a wheel of TensorFlow 2.12 or newer, got another, at ${file}`, {
      hint: `${tensorflowWheel(false)} and ${tensorflowWheel(true)} are known to work.`,
    });
  }
}

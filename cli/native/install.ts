/**
 * `kgwalk native install`: links the addon of tfjs-node against the libraries inside a TensorFlow wheel. The wheel is only
 * unpacked, Python runs none of it; the addon speaks Node-API, so neither node-gyp nor Node's own headers are needed.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { argv, execPath } from 'node:process';
import { WorkbenchError } from '../../src/run/errors.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { nativeAddon, nativeFolder, nativePackage } from '../../src/tensor/native-tensorflow.js';
import type { Finding } from '../doctor.js';
import { interruptSignal } from '../interrupt.js';
import { printJson, printLine, printNote } from '../output.js';
import { packageFolder, requireNativeFolder, requirePrerequisites } from './prerequisites.js';
import { mustRun } from './run-tool.js';
import { cudaWheels, downloadWheels, tensorflowWheel, unpackWheel } from './wheels.js';

interface InstallFlags {
  gpu?: boolean;
  wheel: readonly string[];
  json?: boolean;
}

/** Builds beside the place, checks, and only then puts it there: what was there before stays until then. */
export async function install({ gpu = false, wheel, json }: InstallFlags): Promise<void> {
  const signal = interruptSignal();
  const folder = nativeFolder();
  requireNativeFolder(folder);
  const draft = `${folder}.part`;
  const wheels = wheel.map((file) => resolve(file));
  await requirePrerequisites({ gpu, wheels, folder });
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    await unpackAll(wheels.length > 0 ? wheels : await fetchWheels(gpu, join(draft, 'wheels'), signal), draft, signal);
    tell('building');
    await build(draft, signal);
    tell('checking');
    const detail = await check(draft, signal);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
    if (json) printJson({ folder, detail });
    else printLine(`tensorflow: ${detail}, at ${folder}`);
  } catch (error) {
    throwIfStopped(signal);
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function fetchWheels(gpu: boolean, folder: string, signal: AbortSignal): Promise<string[]> {
  const name = tensorflowWheel(gpu);
  tell(`downloading ${name}`);
  const wheels = await downloadWheels([name], folder, signal);
  if (!gpu) return wheels;
  const cuda = await cudaWheels(wheels[0]!);
  tell(`downloading ${cuda.length} wheels of CUDA libraries`);
  return downloadWheels(cuda, folder, signal);
}

async function unpackAll(wheels: readonly string[], draft: string, signal: AbortSignal): Promise<void> {
  for (const file of wheels) {
    tell(`unpacking ${basename(file)}`);
    await unpackWheel(file, draft, signal);
  }
  rmSync(join(draft, 'wheels'), { recursive: true, force: true });
}

/** One call of the compiler. The addon looks for its libraries beside itself, so the folder may be moved. */
async function build(draft: string, signal: AbortSignal): Promise<void> {
  const libraries = join(draft, 'tensorflow');
  for (const name of ['libtensorflow', 'libtensorflow_framework']) {
    symlinkSync(name === 'libtensorflow' ? 'libtensorflow_cc.so.2' : `${name}.so.2`, join(libraries, `${name}.so`));
  }
  const sources = join(packageFolder(nativePackage), 'binding');
  const files = readdirSync(sources).filter((name) => name.endsWith('.cc'));
  await mustRun(
    'compiling the addon',
    'g++',
    [
      ...['-O2', '-std=c++17', '-fPIC', '-shared', '-DNAPI_VERSION=8'],
      ...[`-I${join(packageFolder('node-api-headers'), 'include')}`, `-I${join(libraries, 'include')}`],
      ...files.map((name) => join(sources, name)),
      ...['-o', join(draft, nativeAddon), `-L${libraries}`, '-ltensorflow', '-ltensorflow_framework'],
      '-Wl,-rpath,$ORIGIN/tensorflow',
    ],
    { signal },
  );
  rmSync(join(libraries, 'include'), { recursive: true });
}

/**
 * Loads and computes in a process of its own: a library that does not fit the processor ends the process that loads it.
 * @returns what the check says
 */
async function check(draft: string, signal: AbortSignal): Promise<string> {
  const variables = { KGWALK_NATIVE: draft };
  const out = await mustRun('loading the built part', execPath, [argv[1]!, 'doctor', '--json'], { signal, variables });
  const findings = (JSON.parse(out) as Finding[]).filter(({ part }) => part.startsWith('backend tensorflow'));
  // A build for CUDA computes on the card that it sees, else on the processor: one of the two rungs works.
  const working = findings.find(({ status }) => status === 'ok');
  if (working) return working.detail;
  const details = findings.map(({ detail }) => detail).join('; ');
  throw new WorkbenchError('native', `expected the built part to compute correctly, got: ${details}`, {
    hint: 'Nothing was changed; another wheel may fit (--wheel FILE). Training works without it, on wasm.',
  });
}

function tell(what: string): void {
  printNote(what);
}

/**
 * `kgwalk native install`: links the addon of tfjs-node against the libraries inside a TensorFlow wheel. The wheel is only
 * unpacked, Python runs none of it; the addon speaks Node-API, so neither node-gyp nor Node's own headers are needed.
 */
import { existsSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { arch, argv, execPath, platform, env } from 'node:process';
import { WorkbenchError } from '../../src/run/errors.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { nativeAddon, nativeFolder, nativePackage } from '../../src/nn/tfjs/native-tensorflow.js';
import type { Finding } from '../diagnosis.js';
import { freeBytes, makeFolder } from '../../src/run/files.js';
import { interruptSignal } from '../terminal.js';
import { printJson, printLine, printNote } from '../output.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

type InstallFlags = { gpu?: boolean; wheel: readonly string[]; json?: boolean };

/** Builds in a temporary folder, checks, then moves it into place: the previous build stays until then. */
export async function install({ gpu = false, wheel, json }: InstallFlags): Promise<void> {
  const signal = interruptSignal();
  const folder = nativeFolder();
  requireNativeFolder(folder);
  const draft = `${folder}.part`;
  const wheels = wheel.map((file) => resolve(file));
  await requirePrerequisites(gpu, wheels, folder);
  rmSync(draft, { recursive: true, force: true });
  makeFolder(draft);
  try {
    await unpackAll(wheels.length > 0 ? wheels : await fetchWheels(gpu, join(draft, 'wheels'), signal), draft, signal);
    printNote('building');
    await build(draft, signal);
    printNote('checking');
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
  printNote(`downloading ${name}`);
  const wheels = await downloadWheels([name], folder, signal);
  if (!gpu) return wheels;
  const cuda = await cudaWheels(wheels[0]!);
  printNote(`downloading ${cuda.length} wheels of CUDA libraries`);
  return downloadWheels(cuda, folder, signal);
}

async function unpackAll(wheels: readonly string[], draft: string, signal: AbortSignal): Promise<void> {
  for (const file of wheels) {
    printNote(`unpacking ${basename(file)}`);
    await unpackWheel(file, draft, signal);
  }
  rmSync(join(draft, 'wheels'), { recursive: true, force: true });
}

/** One compiler call. The addon finds its libraries next to itself, so the folder may be moved. */
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

/** Loads and computes in a separate process: a library that does not fit the processor kills the process. @returns result of the check */
async function check(draft: string, signal: AbortSignal): Promise<string> {
  const variables = { KGWALK_NATIVE: draft };
  const out = await mustRun('loading the built part', execPath, [argv[1]!, 'doctor', '--json'], { signal, variables });
  const findings = (JSON.parse(out) as Finding[]).filter(({ part }) => part.startsWith('backend tensorflow'));
  // A CUDA build computes on a visible card, otherwise on the processor: one of the two backends works.
  const working = findings.find(({ status }) => status === 'ok');
  if (working) return working.detail;
  const details = findings.map(({ detail }) => detail).join('; ');
  throw new WorkbenchError('native', `expected the built part to compute correctly, got: ${details}`, {
    hint: 'Nothing was changed; another wheel may fit (--wheel FILE). Training works without it.',
  });
}

const require = createRequire(import.meta.url);

/** Folder of an installed package. @throws if it is missing */
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`));

/** The native folder is removed as a whole, so it must be one. @throws WorkbenchError `usage` for a folder with other files */
function requireNativeFolder(folder: string): void {
  const held = existsSync(folder) ? readdirSync(folder) : [];
  if (held.length === 0 || held.includes(nativeAddon)) return;
  const problem = `expected a folder that \`native install\` made, or none, got other files, at ${folder}`;
  throw new WorkbenchError('usage', problem, { hint: 'Nothing was changed. KGWALK_NATIVE names another place.' });
}

/**
 * @param wheels given by the user; then pip is not needed
 * @throws WorkbenchError `native` that names everything that is missing at once, with how to get it
 */
async function requirePrerequisites(gpu: boolean, wheels: readonly string[], folder: string): Promise<void> {
  const missing: string[] = [];
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    throw new WorkbenchError('native', `expected Linux on x64 or arm64, got ${platform} on ${arch}`, {
      hint: 'TensorFlow’s wheels for other systems lack what the addon needs; training works without them.',
    });
  }
  for (const name of [nativePackage, 'node-api-headers']) {
    if (!isInstalled(name)) missing.push(`the package ${name} (npm install --no-save --ignore-scripts ${name})`);
  }
  const tools: [string, string[], string][] = [
    ['g++', ['--version'], 'a C++ compiler, g++ (Debian: apt-get install g++)'],
    ['unzip', ['-v'], 'unzip (Debian: apt-get install unzip)'],
  ];
  if (wheels.length === 0) tools.push(['python3', ['-m', 'pip', '--version'], 'pip for python3, or --wheel FILE']);
  for (const [tool, words, what] of tools) if ((await runTool(tool, words)).status !== 0) missing.push(what);
  for (const wheel of wheels) if (!existsSync(wheel)) missing.push(`the file ${wheel}`);
  const free = freeBytes(folder) / 2 ** 30;
  // Temporary disk space in GiB for wheels, extracted files and headers.
  const needed = gpu ? 8 : 1.2;
  if (free < needed) missing.push(`${needed} GiB of space at ${folder}, where ${free.toFixed(1)} are free`);
  if (missing.length === 0) return;
  throw new WorkbenchError('native', `expected all that building needs, missing: ${missing.join('; ')}`, {
    hint: 'Nothing was changed. Get what is missing and run the command again; training works without it, on wasm.',
  });
}

function isInstalled(name: string): boolean {
  try {
    packageFolder(name);
    return true;
  } catch {
    return false;
  }
}

/** Deletes what `kgwalk native build` made, and says so. */
export function remove({ json }: { json?: boolean }): void {
  const folder = nativeFolder();
  requireNativeFolder(folder);
  const removed = existsSync(folder);
  rmSync(folder, { recursive: true, force: true });
  if (json) printJson({ folder, removed });
  else printLine(removed ? `removed ${folder}` : `nothing to remove at ${folder}`);
}

type ToolOptions = { signal?: AbortSignal | undefined; variables?: Record<string, string> };

/** Runs a tool without a shell. The status is null if it could not be started or was stopped. */
async function runTool(tool: string, words: readonly string[], { signal, variables }: ToolOptions = {}) {
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
async function mustRun(
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
async function downloadWheels(
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

function tensorflowWheel(gpu: boolean): string {
  // On ARM the plain wheel is the one for the processor.
  if (!gpu && machine === 'aarch64') return releases.cpu.replace('-cpu', '');
  return gpu ? releases.gpu : releases.cpu;
}

/** CUDA wheels required by a TensorFlow wheel, as pip requirements. */
async function cudaWheels(tensorflow: string): Promise<string[]> {
  const metadata = await mustRun('reading the wheel', 'unzip', ['-p', tensorflow, '*.dist-info/METADATA']);
  return [...metadata.matchAll(/^Requires-Dist: (nvidia-[\w-]+) ?\(?==([\w.]+)\)?\s*;.*and-cuda/gm)].map(
    ([, name, version]) => `${name}==${version}`,
  );
}

/** Takes the libraries (and of TensorFlow the headers) out of a wheel. @throws WorkbenchError `native` for a file that is no such wheel */
async function unpackWheel(file: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const ofCuda = basename(file).startsWith('nvidia');
  const parts = ofCuda ? ['nvidia/*/lib/*'] : ['tensorflow/libtensorflow*', 'tensorflow/include/*'];
  await mustRun(`unpacking ${file}`, 'unzip', ['-qo', file, ...parts, '-d', folder], { signal });
  if (!ofCuda && !readdirSync(join(folder, 'tensorflow')).includes('libtensorflow_cc.so.2')) {
    throw new WorkbenchError('native', `expected a wheel of TensorFlow 2.12 or newer, got another, at ${file}`, {
      hint: `${tensorflowWheel(false)} and ${tensorflowWheel(true)} are known to work.`,
    });
  }
}

/** What building needs, looked at before anything is downloaded. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { arch, platform } from 'node:process';
import { WorkbenchError } from '../../src/run/errors.js';
import { nativeAddon, nativePackage } from '../../src/tensor/native-tensorflow.js';
import { freeBytes } from '../free-space.js';
import { runTool } from './run-tool.js';

/** GiB for wheels, what is taken out of them and the headers, which go again. */
const neededGib = { cpu: 1.2, gpu: 8 };

const require = createRequire(import.meta.url);

/** What is to be built. */
export interface Wanted {
  gpu: boolean;
  /** Given by the user; then pip is not needed. */
  wheels: readonly string[];
  /** Where it will be built. */
  folder: string;
}

/** The folder of an installed package. @throws where there is none */
export function packageFolder(name: string): string {
  return dirname(require.resolve(`${name}/package.json`));
}

/**
 * The native folder is removed as a whole, so it has to be one.
 * @throws WorkbenchError `usage` for a folder that holds other files
 */
export function requireNativeFolder(folder: string): void {
  const held = existsSync(folder) ? readdirSync(folder) : [];
  if (held.length === 0 || held.includes(nativeAddon)) return;
  throw new WorkbenchError(
    'usage',
    `expected a folder that \`native install\` made, or none, got other files, at ${folder}`,
    {
      hint: 'Nothing was changed. KGWALK_NATIVE names another place.',
    },
  );
}

/** @throws WorkbenchError `native` that names everything that is missing at once, with how to get it */
export async function requirePrerequisites({ gpu, wheels, folder }: Wanted): Promise<void> {
  const missing: string[] = [];
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    throw new WorkbenchError('native', `expected Linux on x64 or arm64, got ${platform} on ${arch}`, {
      hint: 'TensorFlow’s wheels for other systems lack what the addon needs; training works on wasm.',
    });
  }
  for (const name of [nativePackage, 'node-api-headers']) {
    if (!isInstalled(name)) missing.push(`the package ${name} (npm install --no-save --ignore-scripts ${name})`);
  }
  const tools: [string, string[], string][] = [
    ['g++', ['--version'], 'a C++ compiler, g++ (Debian: apt-get install g++)'],
    ['unzip', ['-v'], 'unzip (Debian: apt-get install unzip)'],
    ...(wheels.length === 0
      ? [['python3', ['-m', 'pip', '--version'], 'pip for python3, or --wheel FILE'] as [string, string[], string]]
      : []),
  ];
  for (const [tool, words, what] of tools) if ((await runTool(tool, words)).status !== 0) missing.push(what);
  for (const wheel of wheels) if (!existsSync(wheel)) missing.push(`the file ${wheel}`);
  const free = freeBytes(folder) / 2 ** 30;
  const needed = gpu ? neededGib.gpu : neededGib.cpu;
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

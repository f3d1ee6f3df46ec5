/** The only import of node-llama-cpp: loaded on first use, so that everything else works without it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Llama } from 'node-llama-cpp';
import { WorkbenchError } from '../run/errors.js';
import type { LlamaDevice } from './llama-options.js';

const opened = new Map<LlamaDevice, Promise<Llama>>();

/**
 * The library with its prebuilt backend, one instance a process and device. Never compiles or downloads anything.
 * @throws WorkbenchError `native` when the library or its binary for this machine is missing
 */
export function openLlama(device: LlamaDevice): Promise<Llama> {
  const known = opened.get(device);
  if (known) return known;
  const opening = loadLibrary(device);
  opened.set(device, opening);
  opening.catch(() => opened.delete(device));
  return opening;
}

/** The library's classes and functions. @throws WorkbenchError `native` when it is not installed */
export async function llamaLibrary(): Promise<typeof import('node-llama-cpp')> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    throw missing(error);
  }
}

async function loadLibrary(device: LlamaDevice): Promise<Llama> {
  const library = await llamaLibrary();
  try {
    return await library.getLlama({
      gpu: device === 'off' ? false : device,
      build: 'never',
      progressLogs: false,
      // Callers size their own contexts; a limit here would make them wait for each other.
      maxThreads: 0,
      logLevel: library.LlamaLogLevel.error,
      logger: () => {},
    });
  } catch (error) {
    throw missing(error);
  }
}

function missing(error: unknown): WorkbenchError {
  const got = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('native', `expected node-llama-cpp with a binary for this machine, got: ${got}`, {
    hint: 'Run `npm install` again with optional packages allowed, and see `kgwalk doctor`.',
    cause: error,
  });
}

/** Throws what the library says of a model as the error that a user sees. */
export function refusal(path: string): (error: unknown) => never {
  return (cause) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new WorkbenchError('data', `expected a model that llama.cpp can load, got: ${message}, at ${path}`, {
      hint: 'Check that the installed node-llama-cpp knows this architecture and that there is memory for it.',
      cause,
    });
  };
}

/** Version of the installed library, read without loading it. @throws WorkbenchError `native` when it is not installed */
export function llamaVersion(): string {
  try {
    const entry = createRequire(import.meta.url).resolve('node-llama-cpp');
    const manifest = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    return manifest.version;
  } catch (error) {
    throw new WorkbenchError('native', 'expected the package node-llama-cpp, got nothing that can be found', {
      hint: 'Run `npm install` in the project.',
      cause: error,
    });
  }
}

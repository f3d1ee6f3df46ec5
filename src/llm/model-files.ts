/** From the name of a model, as `--model` and `--encoder` take it, to its file and to the open language model. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WorkbenchError } from '../run/errors.js';
import { modelsFolder, packageRoot } from '../run/locations.js';
import { nearestName, printable } from '../run/printable.js';
import { masked } from '../run/secrets.js';
import type { LanguageModel } from './language-model.js';
import { type LlamaModelOptions, openLlamaModel } from './llama-model.js';
import { modelRegistry } from './model-registry.js';
import { openServerModel, type ServerModelOptions } from './server-model.js';

/** The name of the model that comes with the package. */
export const embeddedModelName = 'demo';

/** Path of the model that comes with the package, or undefined where an installation lacks it. */
export function embeddedModelFile(): string | undefined {
  const file = join(packageRoot(), 'models', 'demo', 'kgwalk-demo.gguf');
  return existsSync(file) ? file : undefined;
}

/** Default model: the embedded one, or undefined when the installation lacks it. */
export const defaultModel = (): string | undefined => embeddedModelFile() && embeddedModelName;

/** Names of the downloaded models, in alphabetical order. */
export function downloadedModels(): string[] {
  const folder = modelsFolder();
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .filter((file) => file.endsWith('.gguf'))
    .map((file) => file.slice(0, -'.gguf'.length))
    .sort();
}

/** Path of a downloaded model. @throws WorkbenchError `usage` for an invalid name */
export function downloadedModelFile(name: string): string {
  if (/^[a-z0-9][\w.+-]*$/i.test(name)) return join(modelsFolder(), `${name}.gguf`);
  const got = `got "${printable(name, 80)}"`;
  throw new WorkbenchError('usage', `expected a name of a model (letters, digits, . _ + -), ${got}`);
}

/** The same for a model that is to be written. @throws WorkbenchError `usage` for the embedded one's name too */
export function newModelFile(name: string): string {
  const file = downloadedModelFile(name);
  if (name !== embeddedModelName) return file;
  throw new WorkbenchError('usage', `expected another name than ${embeddedModelName}, which is the embedded model`, {
    hint: 'Choose one with --name.',
  });
}

/** True for a path: `spec` has a separator or ends in `.gguf`. */
export const isModelPath = (spec: string): boolean => /[/\\]|\.gguf$/i.test(spec);

/**
 * The file behind a model’s name: `demo` is the embedded one, a path stays a path, any other word is a downloaded
 * model.
 * @param instead what else may be given, for the hint
 * @returns an absolute path; a path is not checked for existence
 * @throws WorkbenchError `usage` for an unknown name and the file name of a downloaded model, `data` for a model that
 *   was not downloaded yet
 */
export function modelFile(spec: string, instead = 'oracle:ERROR-RATE to simulate one'): string {
  if (isServerAddress(spec)) {
    throw new WorkbenchError('usage', `expected a model’s file or name, got the address ${masked(spec)}`, {
      hint: '`kgwalk models get URL` downloads a file.',
    });
  }
  if (isModelPath(spec)) {
    const [path, name] = [resolve(spec), spec.replace(/\.gguf$/i, '')];
    if (existsSync(path) || !downloadedModels().includes(name)) return path;
    throw new WorkbenchError('usage', `expected a model, got nothing, at ${path}`, {
      hint: `The downloaded model is named without its ending: ${name}.`,
    });
  }
  if (spec === embeddedModelName) {
    const file = embeddedModelFile();
    if (file !== undefined) return file;
    throw new WorkbenchError('data', 'expected the embedded model, got nothing, at models/demo in the package', {
      hint: 'Install the package again, train it (`npm run models:demo`), or name another model.',
    });
  }
  const here = downloadedModels();
  if (here.includes(spec)) return downloadedModelFile(spec);
  const known = modelRegistry.map(({ name }) => name);
  if (known.includes(spec)) {
    throw new WorkbenchError('data', `expected model ${spec}, got nothing, at ${downloadedModelFile(spec)}`, {
      hint: `Get it: kgwalk models get ${spec}`,
    });
  }
  const near = nearestName(spec, [embeddedModelName, ...here, ...known]);
  throw new WorkbenchError('usage', `expected a model, got "${printable(spec, 80)}"`, {
    hint: [
      ...(near === undefined ? [] : [`Did you mean "${near}"?`]),
      `Give FILE.gguf, a name of \`kgwalk models list\` (${[embeddedModelName, ...here].join(', ')} here), http(s)://HOST/v1#MODEL`,
      `for an OpenAI-compatible server, or ${instead}.`,
    ].join(' '),
  });
}

/** Model spec as stored in a run: names and addresses stay, paths become absolute. */
export function lastingModelName(spec: string): string {
  return isModelPath(spec) && !isServerAddress(spec) ? resolve(spec) : spec;
}

/** True for the address of a server. */
export const isServerAddress = (spec: string): boolean => /^https?:\/\//i.test(spec);

/** Splits `http(s)://HOST/v1#MODEL`. @throws WorkbenchError `usage` for a server without a model */
export function serverAndModel(spec: string): { baseUrl: string; model: string } {
  const mark = spec.indexOf('#');
  const model = mark < 0 ? '' : spec.slice(mark + 1);
  if (model !== '') return { baseUrl: spec.slice(0, mark), model };
  throw new WorkbenchError('usage', 'expected a server and its model as URL#MODEL, got a URL without a model', {
    hint: 'For example http://127.0.0.1:8080/v1#qwen2.5-7b-instruct.',
  });
}

/** Options of both kinds of models. */
export interface OpenModelOptions {
  local?: LlamaModelOptions;
  server?: Omit<ServerModelOptions, 'baseUrl' | 'model'>;
}

/**
 * Opens `http(s)://HOST/v1#MODEL`, or a local file by path or name. Simulated models are opened in evaluation/, which
 * alone may see the gold.
 * @throws WorkbenchError as `modelFile`, `usage` for a server without a model; errors of the model
 */
export async function openLanguageModel(spec: string, options: OpenModelOptions = {}): Promise<LanguageModel> {
  if (isServerAddress(spec)) return openServerModel({ ...options.server, ...serverAndModel(spec) });
  return openLlamaModel(modelFile(spec), options.local);
}

/** From the name of a model, as `--model` and `--encoder` take it, to its file and to the open language model. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WorkbenchError } from '../run/errors.js';
import { modelsFolder, packageRoot } from '../run/locations.js';
import { nearestName, printable } from '../run/printable.js';
import { masked } from '../run/secrets.js';
import type { LanguageModel } from './language-model.js';
import { openLlamaModel } from './llama-model.js';
import type { LlamaModelOptions } from './llama-options.js';
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
export type OpenModelOptions = { local?: LlamaModelOptions; server?: Omit<ServerModelOptions, 'baseUrl' | 'model'> };

/**
 * Opens `http(s)://HOST/v1#MODEL`, or a local file by path or name. Simulated models are opened in evaluation/, which
 * alone may see the gold.
 * @throws WorkbenchError as `modelFile`, `usage` for a server without a model; errors of the model
 */
export async function openLanguageModel(spec: string, options: OpenModelOptions = {}): Promise<LanguageModel> {
  if (isServerAddress(spec)) return openServerModel({ ...options.server, ...serverAndModel(spec) });
  return openLlamaModel(modelFile(spec), options.local);
}

interface RegisteredModel {
  /** Name for `--model` and `--encoder`. */
  name: string;
  use: 'chat' | 'encoder';
  about: string;
  url: string;
  sha256: string;
  megabytes: number;
  licence: string;
  /** URL of a licence that must be accepted before the download. */
  licenceToAccept?: string;
}

/** In the order they are listed: encoders first, then by size. Hashes are those that the host publishes for the files. */
export const modelRegistry: readonly RegisteredModel[] = [
  {
    name: 'all-minilm-l6-v2',
    use: 'encoder',
    about: 'sentence encoder, 384 dimensions: the encoder to start with',
    url: 'https://huggingface.co/second-state/All-MiniLM-L6-v2-Embedding-GGUF/resolve/aa38cf2db8c4ed51280bd0acc6509e8d3b1e284e/all-MiniLM-L6-v2-Q8_0.gguf',
    sha256: '263215c3cadd6e16740741a7624ab4cbb6c8e777688bd5331ecfbf5681c2f8ed',
    megabytes: 25,
    licence: 'Apache-2.0',
  },
  {
    name: 'smollm2-135m-instruct',
    use: 'chat',
    about: 'small and quick, for trying things out; near chance as a reasoner',
    url: 'https://huggingface.co/bartowski/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct-Q4_K_M.gguf',
    sha256: '2e8040ceae7815abe0dcb3540b9995eaa1fa0d2ca9e797d0a635ae4433c68c2d',
    megabytes: 105,
    licence: 'Apache-2.0',
  },
  {
    name: 'qwen2.5-0.5b-instruct',
    use: 'chat',
    about: 'the smallest that follows instructions; runs on two cores',
    url: 'https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/12145bd1d629190a4d44254073650877954d02c9/qwen2.5-0.5b-instruct-q4_k_m.gguf',
    sha256: '74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db',
    megabytes: 491,
    licence: 'Apache-2.0',
  },
  {
    name: 'llama-3.2-1b-instruct',
    use: 'chat',
    about: 'a Llama for a laptop',
    url: 'https://huggingface.co/bartowski/Llama-3.2-1B-Instruct-GGUF/resolve/d52af3776f99ddf220e5ffd3f93b2a4e4df105be/Llama-3.2-1B-Instruct-Q4_K_M.gguf',
    sha256: '6f85a640a97cf2bf5b8e764087b1e83da0fdb51d7c9fab7d0fece9385611df83',
    megabytes: 808,
    licence: 'Llama 3.2 Community License',
    licenceToAccept: 'https://www.llama.com/llama3_2/license/',
  },
  {
    name: 'qwen2.5-1.5b-instruct',
    use: 'chat',
    about: 'a fair reasoner for its size',
    url: 'https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf',
    sha256: '6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e',
    megabytes: 1120,
    licence: 'Apache-2.0',
  },
  {
    name: 'llama-3.2-3b-instruct',
    use: 'chat',
    about: 'the larger small Llama; 4 GB of memory',
    url: 'https://huggingface.co/bartowski/Llama-3.2-3B-Instruct-GGUF/resolve/c346bfc2029e79ba6d7edf026cf01fe44242db0d/Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    sha256: '6c1a2b41161032677be168d354123594c0e6e67d2b9227c84f296ad037c728ff',
    megabytes: 2020,
    licence: 'Llama 3.2 Community License',
    licenceToAccept: 'https://www.llama.com/llama3_2/license/',
  },
  {
    name: 'qwen2.5-7b-instruct',
    use: 'chat',
    about: 'for a graphics card, or patience; 8 GB of memory',
    url: 'https://huggingface.co/bartowski/Qwen2.5-7B-Instruct-GGUF/resolve/f4b6063c19a94c15fe9031d8afbbb9df7ec8b93f/Qwen2.5-7B-Instruct-Q4_K_M.gguf',
    sha256: '65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423',
    megabytes: 4680,
    licence: 'Apache-2.0',
  },
];

/** `kgwalk models list`, `get` and `info`. */
import { existsSync, statSync } from 'node:fs';
import { poolingsOf } from '../../src/encoder/embedding-model.js';
import { downloadModel, modelRecord, wantedModel, type WantedModel } from '../../src/llm/download-model.js';
import { describeModel } from '../../src/llm/gguf/model-facts.js';
import {
  downloadedModelFile,
  downloadedModels,
  embeddedModelFile,
  embeddedModelName,
  isModelPath,
  modelFile,
  modelRegistry,
} from '../../src/llm/model-files.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { masked } from '../../src/run/secrets.js';
import { printJson, printLine, printNote, printTable } from '../output.js';
import { terminalWork } from '../terminal.js';

interface Listed {
  name: string;
  state: 'embedded' | 'here' | 'in part' | 'to get';
  file?: string;
  bytes?: number;
  megabytes: number;
  use?: 'chat' | 'encoder' | 'both';
  licence?: string;
  url?: string;
  about: string;
}

/** Prints every model that has a name. */
export function listModels({ json }: { json?: boolean }): void {
  const models = [...embedded(), ...registered(), ...others()];
  if (json) return printJson(models);
  printTable(
    models.map(({ name, state, megabytes: MB, use, licence, about }) => ({ name, state, MB, use, licence, about })),
  );
  printLine('\nGet one: kgwalk models get NAME; any other .gguf: kgwalk models get https://…, or name its path.');
}

function embedded(): Listed[] {
  const file = embeddedModelFile();
  if (file === undefined) return [];
  const about = 'comes with the package, knows the demo data alone; taken where no model is named';
  return [{ name: embeddedModelName, state: 'embedded', ...sizes(file), use: 'both', licence: 'MIT', about }];
}

function registered(): Listed[] {
  return modelRegistry.map((model) => {
    const { name, use, licence, url, about } = model;
    const file = downloadedModelFile(name);
    const facts = { name, use, licence, url, about };
    if (existsSync(file)) return { ...facts, state: 'here', ...sizes(file) };
    return { ...facts, state: existsSync(`${file}.download`) ? 'in part' : 'to get', megabytes: model.megabytes };
  });
}

/** Downloads by address, and files put there by hand. */
function others(): Listed[] {
  const known = modelRegistry.map(({ name }) => name);
  const names = downloadedModels().filter((name) => !known.includes(name));
  return names.map((name) => {
    const record = modelRecord(name);
    const about = record?.url ?? 'put there by hand';
    return { name, state: 'here', ...sizes(downloadedModelFile(name)), url: record?.url, about };
  });
}

function sizes(file: string): { file: string; bytes: number; megabytes: number } {
  const bytes = statSync(file).size;
  return { file, bytes, megabytes: megabytes(bytes) };
}

/** Whole from 10, with one decimal below. */
export function megabytes(bytes: number): number {
  return bytes < 1e7 ? Math.round(bytes / 1e5) / 10 : Math.round(bytes / 1e6);
}

/** Prints the facts in a model file, and its hash. */
export async function describe(spec: string, { json }: { json?: boolean }): Promise<void> {
  const file = modelFile(spec);
  const facts = await describeModel(file);
  const poolings = await poolingsOf(file);
  const sha256 = await sha256File(file);
  const record = isModelPath(spec) ? undefined : modelRecord(spec);
  const source = record && { url: record.url, hashFrom: record.hashFrom };
  if (json) return printJson({ file, ...facts, poolings, sha256, ...source });
  const { embeddingLength, heads, keyValueHeads, tokenizer, vocabulary, pooling, contextLength } = facts;
  const shared = keyValueHeads === undefined || keyValueHeads === heads ? '' : `, ${keyValueHeads} of keys and values`;
  const rows: [string, string | number | undefined][] = [
    ['file', file],
    ['name', facts.name],
    ['architecture', facts.architecture],
    ['size', `${megabytes(facts.bytes)} MB, ${count(facts.parameters)} parameters, ${facts.quantisation}`],
    ['context', contextLength === undefined ? undefined : `${contextLength} tokens`],
    ['layers', facts.layers],
    ['heads', heads === undefined ? undefined : `${heads}${shared}`],
    ['vocabulary', `${vocabulary ?? 'none'}${tokenizer === undefined ? '' : ` tokens (${tokenizer})`}`],
    ['chat template', facts.chatTemplate === 'none' ? 'none: prompts are laid out plainly' : facts.chatTemplate],
    ['text vectors', poolings.length === 0 ? 'none' : `${embeddingLength} numbers, pooling ${pooling ?? 'last token'}`],
    ['poolings', poolings.length === 0 ? undefined : `${poolings.join(', ')} (encoder.pooling)`],
    ['licence', record?.licence ?? facts.licence],
    ['from', source?.url],
    ['sha256', sha256],
  ];
  for (const [label, value] of rows) if (value !== undefined) printLine(`${label.padEnd(14)} ${value}`);
}

function count(parameters: number): string {
  const units = Object.entries({ G: 1e9, M: 1e6, k: 1e3 });
  const [unit, size] = units.find(([, least]) => parameters >= least) ?? [];
  return size === undefined ? String(parameters) : `${(parameters / size).toPrecision(3)} ${unit}`;
}

type GetFlags = { name?: string; sha256?: string; acceptLicence?: boolean; acceptUnverified?: boolean; json?: boolean };

/** Prints source and licence, downloads the model, and prints how to use it. */
export async function getModel(what: string, flags: GetFlags): Promise<void> {
  const { name, sha256, acceptUnverified, json } = flags;
  const wanted = wantedModel(what, { name, sha256 });
  printNote(`${wanted.name} from ${masked(wanted.url)}\nlicence: ${wanted.licence ?? `see ${wanted.page}`}`);
  if (wanted.licenceToAccept !== undefined && !flags.acceptLicence) throw notAccepted(wanted, wanted.licenceToAccept);
  const { file, kept, ...record } = await downloadModel(wanted, { acceptUnverified, ...terminalWork() });
  if (json) return printJson({ ...record, file, kept });
  const { bytes, hashFrom } = record;
  const checked = {
    caller: 'its sha256 is right',
    host: 'its sha256 is the one stated by the host',
    nobody: 'UNVERIFIED: no sha256 was given to check it by',
  };
  const how = kept === bytes ? 'it was here' : 'downloaded';
  printLine(`${record.name}: ${megabytes(bytes)} MB at ${file}; ${how}; ${checked[hashFrom]}`);
  printLine(`sha256 ${record.sha256}`);
  printLine(`use it: --model ${record.name}, --encoder ${record.name}; more: kgwalk models info ${record.name}`);
}

function notAccepted({ name, licence }: WantedModel, page: string): WorkbenchError {
  return new WorkbenchError('usage', `expected --accept-licence: ${name} comes under the ${licence}`, {
    hint: `Read it at ${page} and, if you accept it, say so with --accept-licence.`,
  });
}

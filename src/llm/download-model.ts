/** Getting a model of others: by a name of the registry, or from any address. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { downloadFile, type DownloadOptions } from '../run/download.js';
import { WorkbenchError } from '../run/errors.js';
import { writeFileAtomic } from '../run/files.js';
import { modelsFolder } from '../run/locations.js';
import { nearestName } from '../run/printable.js';
import { removablePath, type Removal, removeInside } from '../run/remove.js';
import { lockFolder } from '../run/run-lock.js';
import { masked } from '../run/secrets.js';
import { readGgufHeader } from './gguf/read-header.js';
import { downloadedModelFile, downloadedModels, newModelFile, modelRegistry } from './model-files.js';

const recordSchema = z.strictObject({
  schemaVersion: z.literal(1),
  name: z.string(),
  url: z.string().describe('without what is secret in it'),
  sha256: z.string(),
  bytes: z.int(),
  hashFrom: z.enum(['caller', 'host', 'nobody']).describe('whose sha256 it was checked by'),
  licence: z.string().optional(),
});

type ModelRecord = z.output<typeof recordSchema>;

/** Model to download. */
export interface WantedModel {
  name: string;
  url: string;
  /** A page about it, with its licence. */
  page: string;
  sha256?: string;
  licence?: string;
  /** URL of a licence that must be accepted first. */
  licenceToAccept?: string;
}

/**
 * Resolves a name of the registry or an address; pages of Hugging Face (`…/blob/…`) count as the files they show.
 * @param name to keep it under; default the registry’s, or the file’s without `.gguf`
 * @throws WorkbenchError `usage` for an unknown name, or an address of no single GGUF file
 */
export function wantedModel(spec: string, { name, sha256 }: { name?: string; sha256?: string } = {}): WantedModel {
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new WorkbenchError('usage', `expected a sha256 of 64 hexadecimal digits, got ${sha256}, at --sha256`);
  }
  const wanted = /^https?:\/\//i.test(spec) ? fromAddress(spec) : fromRegistry(spec);
  const kept = { ...wanted, name: name ?? wanted.name, ...(sha256 && { sha256: sha256.toLowerCase() }) };
  newModelFile(kept.name);
  return kept;
}

function fromRegistry(name: string): WantedModel {
  const found = modelRegistry.find((model) => model.name === name);
  if (found) {
    const { url, sha256, licence, licenceToAccept } = found;
    return { name, url, page: url.slice(0, url.indexOf('/resolve/')), sha256, licence, licenceToAccept };
  }
  const known = modelRegistry.map((model) => model.name);
  const near = nearestName(name, known);
  throw new WorkbenchError('usage', `expected a model’s name or an address, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Names: ${known.join(', ')}. Any other: https://….gguf.`,
  });
}

function fromAddress(spec: string): WantedModel {
  const url = URL.canParse(spec) ? new URL(spec) : undefined;
  const [file] = url?.pathname.match(/(?<=\/)[^/]+\.gguf$/i) ?? [];
  if (url === undefined || file === undefined) {
    throw new WorkbenchError('usage', `expected the address of a .gguf file, got ${spec}`, {
      hint: 'Such as https://huggingface.co/ORG/NAME/resolve/main/FILE.gguf.',
    });
  }
  if (/-\d{5}-of-\d{5}\.gguf$/i.test(file)) {
    throw new WorkbenchError('usage', `expected a model in one file, got one part of several, at ${spec}`, {
      hint: 'Choose a smaller quantisation, or merge the parts first (llama.cpp: `llama-gguf-split --merge`).',
    });
  }
  const onHuggingFace = url.hostname === 'huggingface.co';
  if (onHuggingFace) url.pathname = url.pathname.replace(/^(\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
  const repository = onHuggingFace ? url.pathname.split('/').slice(0, 3).join('/') : '';
  return { name: decoded(file).replace(/\.gguf$/i, ''), url: url.href, page: `${url.origin}${repository}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Downloads a model into `KGWALK_HOME/models`, or leaves the one that is there.
 * @returns the record, the file, and `kept`: bytes that did not have to come
 * @throws WorkbenchError `usage` where the name belongs to another download, `data` for no model; as `downloadFile`
 */
export async function downloadModel(
  { name, url: address, sha256, licence }: WantedModel,
  options: Pick<DownloadOptions, 'acceptUnverified' | 'progress' | 'signal'> = {},
): Promise<ModelRecord & { file: string; kept: number }> {
  const file = downloadedModelFile(name);
  const url = masked(address);
  const record = modelRecord(name);
  const before = record?.url === url ? record : undefined;
  if (existsSync(file) && !before) {
    const got = `${name}, which is ${record?.url ?? 'a file of yours'}`;
    throw new WorkbenchError('usage', `expected a free name, got ${got}, at ${file}`, {
      hint: 'Choose another with --name, or delete that file.',
    });
  }
  const download = { url: address, file, check: readGgufHeader, label: name, sha256: sha256 ?? before?.sha256 };
  const { kept, ...found } = await downloadFile({ ...options, ...download });
  const hashFrom = sha256 === undefined ? (before?.hashFrom ?? found.hashFrom) : found.hashFrom;
  const { bytes } = found;
  const written: ModelRecord = { schemaVersion: 1, name, url, sha256: found.sha256, bytes, hashFrom, licence };
  writeFileAtomic(recordFile(name), `${JSON.stringify(written, null, 2)}\n`);
  return { ...written, file, kept };
}

/** Record of a downloaded model; undefined for a file put there by hand. */
export function modelRecord(name: string): ModelRecord | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(readFileSync(recordFile(name), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

const recordFile = (name: string) => downloadedModelFile(name).replace(/\.gguf$/, '.json');

/**
 * Removes a downloaded model with its record, and what an interrupted download left.
 * @throws WorkbenchError `usage` for a name without a download, and while it is being downloaded; as `removeInside`
 */
export function removeModel(name: string): Removal {
  const file = downloadedModelFile(name);
  const partial = `${file}.download`;
  const paths = [partial, recordFile(name), file].filter((path) => existsSync(path));
  if (!paths.includes(file) && !paths.includes(partial)) {
    throw new WorkbenchError('usage', `expected a downloaded model, got ${name}, at ${file}`, {
      hint: `Downloaded: ${downloadedModels().join(', ') || 'none'}. The embedded model belongs to the package.`,
    });
  }
  for (const path of paths) removablePath(modelsFolder(), path);
  const unlock = paths.includes(partial) ? lockFolder(partial, 'a download') : () => {};
  try {
    const removals = paths.map((path) => removeInside(modelsFolder(), path));
    return { removed: file, bytes: removals.reduce((sum, { bytes }) => sum + bytes, 0) };
  } finally {
    unlock();
  }
}

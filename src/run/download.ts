/** Downloads files: complete, verified by hash, and resumable. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { reasonOfFetch, WorkbenchError } from './errors.js';
import { freeBytes, hashOfFile, makeFolder, sha256File, writeError, writeFileAtomic, writeFully } from './files.js';
import { silentProgress, type ProgressReporter } from './progress.js';
import { Passing, passingStatus } from './requests.js';
import { lockFolder } from './run-lock.js';
import { masked } from './secrets.js';

/** Address, destination, expected hash and retry limits of a download. */
export interface DownloadOptions {
  /** `https://…`, or `http://` on this machine. */
  url: string;
  /** Destination. Until it is complete and verified, the data is in the folder `<file>.download`. */
  file: string;
  /** Expected sha256, hex. Without it and `gitBlob`, the host's own hash is used (`x-linked-etag`). */
  sha256?: string | undefined;
  /** Git object id of the file's content, hex: for files of repositories. */
  gitBlob?: string | undefined;
  bytes?: number | undefined;
  /** Accept a file without any known hash. Default false. */
  acceptUnverified?: boolean | undefined;
  /** Validates the complete file before it is renamed; an error discards it. */
  check?: (path: string) => void;
  label: string;
  progress?: ProgressReporter | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds without bytes before a connection is dropped (`stall`, default 30,000) and before the second try
   * without progress (`pause`, default 1,000, then doubled); such tries before it fails (`tries`, default 5).
   */
  patience?: Partial<typeof defaultPatience>;
}

const defaultPatience = { stall: 30_000, tries: 5, pause: 1000 };
const longestPause = 30_000;
const spareBytes = 64 << 20;
const mostRedirects = 10;

/** A finished download with the source of its hash. */
export interface Downloaded {
  file: string;
  bytes: number;
  sha256: string;
  /** Source of the hash; the last one if it was accepted unverified. */
  hashFrom: 'caller' | 'host' | 'nobody';
  /** Bytes reused from an earlier try; all of them if the file was already present. */
  kept: number;
}

/**
 * Gets a file. Cuts, stalls and busy servers are waited out; received bytes are kept for the next try and the next run.
 * An existing file with the given hash stays.
 * @throws WorkbenchError `data` for other bytes than expected (they are removed), `failure` where the host or the disk
 *   refuses, `usage` for a bad address or hash, `stopped` by the signal
 */
export async function downloadFile(options: DownloadOptions): Promise<Downloaded> {
  const { file, gitBlob, progress = silentProgress } = options;
  const sha256 = options.sha256?.toLowerCase();
  const address = downloadAddress(options.url);
  // For messages and records: a signature in an address changes between tries.
  const url = masked(options.url);
  if (existsSync(file) && (sha256 ?? gitBlob) !== undefined) {
    const found = await sha256File(file);
    const same = (sha256 ?? found) === found && (gitBlob === undefined || (await gitBlobOf(file)) === gitBlob);
    const { size } = statSync(file);
    if (same) return { file, bytes: size, sha256: found, hashFrom: 'caller', kept: size };
  }
  const folder = `${file}.download`;
  makeFolder(folder);
  const unlock = lockFolder(folder, 'a download');
  let part: Part | undefined;
  let done = false;
  try {
    part = openPart(folder, url);
    if (sha256 !== undefined && part.state?.sha256 !== sha256) part.drop();
    const kept = part.length;
    let line: ReturnType<ProgressReporter> | undefined;
    const show = ({ length, state }: Part, note?: string) => {
      line ??= progress(options.label, megabytes(state?.bytes ?? 0), 'MB', megabytes(length));
      line.update(megabytes(length), note);
    };
    await persist(part, { ...options, sha256, url, address, show }).finally(() => line?.finish());
    fsyncSync(part.descriptor);
    const found = await sha256File(part.path);
    const expected = sha256 ?? part.state?.sha256;
    try {
      confirm(expected ?? found, found, 'sha256', url);
      if (gitBlob !== undefined) confirm(gitBlob, await gitBlobOf(part.path), 'git blob', url);
      options.check?.(part.path);
    } catch (error) {
      part.drop();
      throw error;
    }
    renameSync(part.path, file);
    done = true;
    const hashFrom = (sha256 ?? gitBlob) ? 'caller' : expected === undefined ? 'nobody' : 'host';
    return { file, bytes: part.length, sha256: found, hashFrom, kept };
  } finally {
    if (part) closeSync(part.descriptor);
    unlock();
    if (done || part?.length === 0) rmSync(folder, { recursive: true, force: true });
  }
}

const stateSchema = z.strictObject({
  url: z.string(),
  sha256: z.string().optional(),
  bytes: z.int().min(0),
  /** Strong ETag: changes with the bytes. */
  etag: z.string().optional(),
});

type Part = ReturnType<typeof openPart>;

/** Opens the file `part` of a folder for more bytes. Bytes of another origin than `state.json` names are dropped. */
function openPart(folder: string, url: string) {
  const [path, stateFile] = [join(folder, 'part'), join(folder, 'state.json')];
  const descriptor = openSync(path, 'a');
  const part = {
    path,
    descriptor,
    length: fstatSync(descriptor).size,
    state: readState(stateFile),
    append(chunk: Uint8Array): void {
      try {
        writeFully(descriptor, chunk);
      } catch (error) {
        throw writeError(error, path);
      }
      part.length += chunk.byteLength;
    },
    drop(): void {
      ftruncateSync(descriptor, 0);
      rmSync(stateFile, { force: true });
      part.state = undefined;
      part.length = 0;
    },
    /** Empties the part for a new origin. */
    begin(state: z.output<typeof stateSchema>): void {
      part.drop();
      writeFileAtomic(stateFile, JSON.stringify(state));
      part.state = state;
    },
  };
  if (part.state?.url !== url || part.length > part.state.bytes) part.drop();
  return part;
}

function readState(file: string): z.output<typeof stateSchema> | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** The requested file: `url` is recorded, `address` is requested (a mirror's if there is one). */
interface Wanted extends DownloadOptions {
  address: URL;
  show: (part: Part, note?: string) => void;
}

/** Tries until one succeeds, or too many in a row made no progress. */
async function persist(part: Part, wanted: Wanted): Promise<void> {
  const { signal, show } = wanted;
  const { stall, tries, pause } = { ...defaultPatience, ...wanted.patience };
  let furthest = part.length;
  for (let failed = 0; ;) {
    try {
      if (signal?.aborted) throw signal.reason;
      return await transfer(part, wanted, stall);
    } catch (error) {
      const { length, state } = part;
      const here = `${megabytes(length)} of ${megabytes(state?.bytes ?? 0)} MB are here`;
      const soFar = `${length === 0 ? 'nothing has come yet' : here}, at ${dirname(part.path)}`;
      const hint = 'The same command resumes it.';
      if (signal?.aborted) throw new WorkbenchError('stopped', `stopped, ${soFar}`, { hint });
      if (!(error instanceof Passing)) throw error;
      if (length > furthest) failed = 0;
      furthest = Math.max(furthest, length);
      if (++failed >= tries) {
        const expected = length === 0 ? 'a file' : 'the rest of a file';
        throw new WorkbenchError('failure', `expected ${expected}, got trouble (${error.message}), ${soFar}`, { hint });
      }
      show(part, `${error.message}; trying again`);
      const time = Math.min(longestPause, Math.max(error.waitMs ?? 0, pause * 2 ** (failed - 1)));
      await wait(time, undefined, { signal }).catch(() => {});
    }
  }
}

/** One try: appends until the file is complete; starts again if the server cannot resume or has another file now. */
async function transfer(part: Part, wanted: Wanted, stall: number): Promise<void> {
  if (part.state && part.length === part.state.bytes) return;
  const stalled = new AbortController();
  const watch = setTimeout(() => stalled.abort(new Passing(`no bytes for ${stall / 1000} s`)), stall);
  const signal = wanted.signal ? AbortSignal.any([wanted.signal, stalled.signal]) : stalled.signal;
  try {
    const { length, state } = part;
    const headers = {
      // Lengths and ranges refer to the file, not to a compressed copy.
      'accept-encoding': 'identity',
      'user-agent': 'kgwalk',
      ...(length > 0 && { range: `bytes=${length}-` }),
      ...(length > 0 && state?.etag !== undefined && { 'if-range': state.etag }),
    };
    const { response, hostHeaders } = await openResponse(wanted.address, headers, signal);
    try {
      place(part, response, hostHeaders, wanted);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      watch.refresh();
      if (part.length + chunk.byteLength > part.state!.bytes) {
        throw new WorkbenchError('failure', `expected ${part.state!.bytes} bytes, got more, at ${wanted.url}`);
      }
      part.append(chunk);
      wanted.show(part);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isNetworkError(error) ? new Passing(reasonOfFetch(error)) : error;
  } finally {
    clearTimeout(watch);
  }
  if (part.length < part.state!.bytes) throw new Passing('the connection was cut');
}

/** Headers of the first host before a redirect, as Hugging Face sends for large files. */
type HostHeaders = { sha256?: string; bytes?: number };

/** One request, through redirects, to a response of status 200 (from the start), 206 (a part) or 416 (no such part). */
async function openResponse(url: URL, headers: Record<string, string>, signal: AbortSignal) {
  const hostHeaders: HostHeaders = {};
  let at = url;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const response = await fetch(at, { headers, signal, redirect: 'manual' });
    if (at.host === url.host) readHostHeaders(response.headers, hostHeaders);
    const location = response.headers.get('location');
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirect && [200, 206, 416].includes(response.status)) return { response, hostHeaders };
    await response.body?.cancel();
    if (!isRedirect) throw refusal(response, at);
    at = redirectAddress(at, location);
  }
  const place = `${url.origin}${url.pathname}`;
  throw new WorkbenchError('failure', `expected a file, got more than ${mostRedirects} redirects, at ${place}`);
}

function readHostHeaders(headers: Headers, hostHeaders: HostHeaders): void {
  const sha256 = /^"?([0-9a-f]{64})"?$/.exec(headers.get('x-linked-etag') ?? '')?.[1];
  const bytes = Number(headers.get('x-linked-size') ?? NaN);
  if (sha256 !== undefined) hostHeaders.sha256 = sha256;
  if (Number.isSafeInteger(bytes)) hostHeaders.bytes = bytes;
}

const refusalHints: Readonly<Record<number, string>> = {
  401: 'The host wants a login: get the file with a browser, and name it by its path.',
  403: 'The host refuses; some files want their licence accepted there first. Get them with a browser, and name them by path.',
  404: 'It is not there, or no longer: look at the page of the repository.',
};

function refusal({ status, headers }: Response, at: URL): Error {
  const passing = passingStatus(status, `status ${status}`, headers);
  if (passing) return passing;
  const message = `expected a file, got status ${status}, at ${at.origin}${at.pathname}`;
  return new WorkbenchError('failure', message, { hint: refusalHints[status] });
}

/** Prepares the part for the response: kept if the response continues it, emptied if it starts from the beginning. */
function place(part: Part, { headers, status }: Response, hostHeaders: HostHeaders, wanted: Wanted): void {
  const tag = headers.get('etag');
  // A weak ETag may stay while bytes change.
  const etag = tag?.startsWith('W/') ? undefined : (tag ?? undefined);
  const sha256 = wanted.sha256 ?? hostHeaders.sha256;
  const packed = headers.get('content-encoding') ?? 'identity';
  const length = (packed === 'identity' && /^\d{1,15}$/.exec(headers.get('content-length') ?? '')?.[0]) || NaN;
  const total = status === 206 ? rangeOf(headers, part.length) : Number(length);
  const { state } = part;
  const same = state?.bytes === total && state.sha256 === sha256 && (etag ?? state.etag) === (state.etag ?? etag);
  if (status === 206 && same) return;
  if (status !== 200) {
    part.drop();
    throw new Passing('the file is another than it was');
  }
  const known = wanted.bytes ?? hostHeaders.bytes ?? total;
  if (total !== known) {
    const got = Number.isNaN(total) ? 'none announced' : total;
    throw new WorkbenchError('data', `expected ${known || 'a number of'} bytes, got ${got}, at ${wanted.url}`, {
      hint: 'The file there is another than the one that is meant.',
    });
  }
  if (sha256 === undefined && wanted.gitBlob === undefined && !wanted.acceptUnverified) {
    const message = `expected a sha256 to check the file by, got none from the host, at ${wanted.url}`;
    const hint = 'Give --sha256 HASH from a source you trust, or --accept-unverified to accept any content.';
    throw new WorkbenchError('usage', message, { hint });
  }
  const free = freeBytes(dirname(part.path));
  if (free < total + spareBytes) {
    const [mb, here] = [total + spareBytes, free].map((size) => `${Math.ceil(size / 1e6)} MB`);
    const message = `expected ${mb} of free space, got ${here}, at ${dirname(part.path)}`;
    throw new WorkbenchError('failure', message, { hint: 'Free some space, or move the folder with KGWALK_HOME.' });
  }
  part.begin({ url: wanted.url, bytes: total, sha256, etag });
}

/** Bytes of the complete file; NaN if the response does not continue from `start`. */
function rangeOf(headers: Headers, start: number): number {
  const [, from, total] = /^bytes (\d{1,15})-\d+\/(\d{1,15})$/.exec(headers.get('content-range') ?? '') ?? [];
  return Number(from) === start ? Number(total) : NaN;
}

/** `fetch` and its body throw a TypeError with a cause for any network failure. */
function isNetworkError(error: unknown): error is Error {
  const { name, cause } = error as Error;
  return name === 'TypeError' && cause !== undefined;
}

function confirm(expected: string, found: string, what: string, url: string): void {
  if (found === expected) return;
  throw new WorkbenchError('data', `expected ${what} ${expected}, got ${found}, at ${url}`, {
    hint: 'What came was removed. Try again; if it stays so, the file there is another than the one that is meant.',
  });
}

/** Git object id of a file’s content: SHA-1 over its length and bytes. @source git, Documentation/gitformat-loose.adoc */
async function gitBlobOf(path: string): Promise<string> {
  return (await hashOfFile(path, createHash('sha1').update(`blob ${statSync(path).size}\0`))).digest('hex');
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;

/**
 * The address to ask for `text`: https anywhere, http only on this machine. With a mirror in `KGWALK_DOWNLOADS_BASE`,
 * `BASE/HOST/PATH`; hashes are checked all the same.
 */
function downloadAddress(text: string): URL {
  const wanted = checkedAddress(text);
  const base = env.KGWALK_DOWNLOADS_BASE?.replace(/(?<!\/)\/+$/, '');
  return base ? checkedAddress(`${base}/${wanted.host}${wanted.pathname}${wanted.search}`) : wanted;
}

function checkedAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && isAllowed(url)) return url;
  throw new WorkbenchError('usage', `expected an address https://…, got ${JSON.stringify(url?.origin ?? text)}`, {
    hint: 'Plain http is taken from 127.0.0.1 and localhost alone, and no address may hold a password.',
  });
}

/** Target of a redirect: same scheme only, and not from outside to this machine. */
function redirectAddress(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to && isAllowed(to) && (!isLoopback(to) || isLoopback(from))) return to;
  const got = `one to ${to?.origin ?? 'nowhere'}, at ${from.origin}${from.pathname}`;
  const hint = 'Nothing was taken from there.';
  throw new WorkbenchError('failure', `expected a redirect to https, got ${got}`, { hint });
}

function isAllowed(url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

const isLoopback = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

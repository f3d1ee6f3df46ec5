/** Downloads files: complete, verified by hash, and resumable. */
import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { env } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { reasonOfFetch, WorkbenchError } from './errors.js';
import { hashOfFile, makeFolder, sha256File } from './files.js';
import { PartFile, type PartState } from './part-file.js';
import { silentProgress, type ProgressReporter } from './progress.js';
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
   * Milliseconds: time without bytes before a connection is dropped (`stall`, default 30,000), and the pause before the
   * second try without progress (`pause`, default 1,000), doubled for each further one; fails after `tries` such tries
   * (default 5).
   */
  patience?: Partial<typeof defaultPatience>;
}

const defaultPatience = { stall: 30_000, tries: 5, pause: 1000 };
const longestPause = 30_000;
/** Bytes to leave free on the disk. */
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
 * Gets a file. Trouble that may pass (cuts, stalls, busy servers) is waited out; bytes that came are kept for the next
 * try and the next run. An existing file with the given hash is left as it is.
 * @throws WorkbenchError `data` for other bytes than expected (they are removed), `failure` where the host or the disk
 *   refuses, `usage` for an address or a hash that will not do, `stopped` by the signal
 */
export async function downloadFile(options: DownloadOptions): Promise<Downloaded> {
  const { file, gitBlob, progress = silentProgress } = options;
  const sha256 = options.sha256?.toLowerCase();
  const address = downloadAddress(options.url);
  // Address for messages and records; a signature in it changes between tries.
  const url = masked(options.url);
  const here = await existing({ ...options, sha256 });
  if (here) return here;
  const folder = `${file}.download`;
  makeFolder(folder);
  const unlock = lockFolder(folder, 'a download');
  let part: PartFile | undefined;
  let keep = true;
  try {
    part = await PartFile.open(folder, url);
    if (sha256 !== undefined && part.state?.sha256 !== sha256) part.drop();
    const kept = part.length;
    let line: ReturnType<ProgressReporter> | undefined;
    const show = ({ length, state }: PartFile, note?: string) => {
      line ??= progress(options.label, megabytes(state?.bytes ?? 0), 'MB', megabytes(length));
      line.update(megabytes(length), note);
    };
    try {
      await persist(part, { ...options, sha256, url, address, show });
    } finally {
      line?.finish();
    }
    const found = part.finish();
    const expected = sha256 ?? part.state?.sha256;
    try {
      if (expected !== undefined) confirm(expected, found, 'sha256', url);
      if (gitBlob !== undefined) confirm(gitBlob, await gitBlobOf(part.path), 'git blob', url);
      options.check?.(part.path);
    } catch (error) {
      part.drop();
      throw error;
    }
    const bytes = part.length;
    part.close();
    renameSync(part.path, file);
    keep = false;
    const hashFrom = (sha256 ?? gitBlob) ? 'caller' : expected === undefined ? 'nobody' : 'host';
    return { file, bytes, sha256: found, hashFrom, kept };
  } finally {
    part?.close();
    unlock();
    if (!keep || part?.length === 0) rmSync(folder, { recursive: true, force: true });
  }
}

/** The requested file as the tries need it: `url` is recorded, `address` is requested (a mirror's if there is one). */
interface Wanted extends DownloadOptions {
  address: URL;
  show: (part: PartFile, note?: string) => void;
}

/** Tries until one succeeds, or too many in a row made no progress. */
async function persist(part: PartFile, wanted: Wanted): Promise<void> {
  const { signal, show } = wanted;
  const { stall, tries, pause } = { ...defaultPatience, ...wanted.patience };
  let furthest = part.length;
  for (let failed = 0; ;) {
    try {
      if (signal?.aborted) throw signal.reason;
      return await transfer(part, wanted, stall);
    } catch (error) {
      if (signal?.aborted) throw stopped(part);
      if (!(error instanceof PassingTrouble)) throw error;
      if (part.length > furthest) failed = 0;
      furthest = Math.max(furthest, part.length);
      if (++failed >= tries) throw gaveUp(part, error);
      show(part, `${error.message}; trying again`);
      const time = Math.min(longestPause, Math.max(error.wait ?? 0, pause * 2 ** (failed - 1)));
      await wait(time, undefined, signal && { signal }).catch(() => {});
    }
  }
}

/** A transient failure: a broken connection, a stall, a busy server. */
class PassingTrouble extends Error {
  /** @param wait delay requested by the server, milliseconds */
  constructor(
    message: string,
    readonly wait?: number,
  ) {
    super(message);
  }
}

/**
 * One try: appends to `part` until the file is complete, or restarts if the server cannot resume or has another file
 * now.
 */
async function transfer(part: PartFile, wanted: Wanted, stall: number): Promise<void> {
  if (part.state && part.length === part.state.bytes) return;
  const stalled = new AbortController();
  const watch = setTimeout(() => stalled.abort(new PassingTrouble(`no bytes for ${stall / 1000} s`)), stall);
  const signal = wanted.signal ? AbortSignal.any([wanted.signal, stalled.signal]) : stalled.signal;
  try {
    const { response, hostHeaders } = await openResponse(wanted.address, headersFor(part), signal);
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
    throw isNetworkError(error) ? new PassingTrouble(reasonOfFetch(error)) : error;
  } finally {
    clearTimeout(watch);
  }
  if (part.length < part.state!.bytes) throw new PassingTrouble('the connection was cut');
}

function headersFor({ length, state }: PartFile): Record<string, string> {
  return {
    // Lengths and ranges refer to the file, not to a compressed copy.
    'accept-encoding': 'identity',
    'user-agent': 'kgwalk',
    ...(length > 0 && { range: `bytes=${length}-` }),
    ...(length > 0 && state?.etag !== undefined && { 'if-range': state.etag }),
  };
}

/** Headers of the first host before a redirect, as Hugging Face sends for large files. */
interface HostHeaders {
  sha256?: string;
  bytes?: number;
}

/**
 * One request, through redirects, to a response of status 200 (from the start), 206 (a part) or 416 (no such part).
 * @param headers of every hop; they hold nothing secret
 */
async function openResponse(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ response: Response; hostHeaders: HostHeaders }> {
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
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? NaN);
    return new PassingTrouble(`status ${status}`, Number.isFinite(seconds) ? seconds * 1000 : undefined);
  }
  const message = `expected a file, got status ${status}, at ${at.origin}${at.pathname}`;
  return new WorkbenchError('failure', message, { hint: refusalHints[status] });
}

/** Prepares the part for the response: kept if the response continues it, emptied if it starts from the beginning. */
function place(part: PartFile, { headers, status }: Response, hostHeaders: HostHeaders, wanted: Wanted): void {
  const tag = headers.get('etag');
  // A weak ETag may stay while bytes change.
  const etag = tag?.startsWith('W/') ? undefined : (tag ?? undefined);
  const sha256 = wanted.sha256 ?? hostHeaders.sha256;
  const total = status === 206 ? rangeOf(headers, part.length) : lengthOf(headers);
  const same =
    part.state?.bytes === total &&
    part.state?.sha256 === sha256 &&
    (etag === undefined || (part.state?.etag ?? etag) === etag);
  if (status === 206 && same) return;
  if (status !== 200) {
    part.drop();
    throw new PassingTrouble('the file is another than it was');
  }
  const known = wanted.bytes ?? hostHeaders.bytes;
  if (total === undefined || (known !== undefined && total !== known)) {
    const got = `${known ?? 'a number of'} bytes, got ${total ?? 'none announced'}`;
    const hint = 'The file there is another than the one that is meant.';
    throw new WorkbenchError('data', `expected ${got}, at ${wanted.url}`, { hint });
  }
  if (sha256 === undefined && wanted.gitBlob === undefined && !wanted.acceptUnverified) {
    const message = `expected a sha256 to check the file by, got none from the host, at ${wanted.url}`;
    const hint = 'Give --sha256 HASH from a source you trust, or --accept-unverified to accept any content.';
    throw new WorkbenchError('usage', message, { hint });
  }
  checkSpace(dirname(part.path), total);
  const state: PartState = { url: wanted.url, bytes: total };
  part.begin({ ...state, ...(sha256 !== undefined && { sha256 }), ...(etag !== undefined && { etag }) });
}

function lengthOf(headers: Headers): number | undefined {
  const packed = headers.get('content-encoding') ?? 'identity';
  const length = headers.get('content-length') ?? '';
  return packed === 'identity' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** Size of the complete file, if the response continues from `start`. */
function rangeOf(headers: Headers, start: number): number | undefined {
  const [, from, total] = /^bytes (\d{1,15})-\d+\/(\d{1,15})$/.exec(headers.get('content-range') ?? '') ?? [];
  return Number(from) === start ? Number(total) : undefined;
}

function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes + spareBytes) return;
  const mb = (size: number) => `${Math.ceil(size / 1e6)} MB`;
  const message = `expected ${mb(bytes + spareBytes)} of free space, got ${mb(free)}, at ${folder}`;
  throw new WorkbenchError('failure', message, { hint: 'Free some space, or move the folder with KGWALK_HOME.' });
}

/** `fetch` and its body throw a TypeError with a cause for any network failure. */
function isNetworkError(error: unknown): error is Error {
  const { name, cause } = error as Error;
  return name === 'TypeError' && cause !== undefined;
}

async function existing({ file, sha256, gitBlob }: DownloadOptions): Promise<Downloaded | undefined> {
  if (!existsSync(file) || (sha256 === undefined && gitBlob === undefined)) return undefined;
  const found = await sha256File(file);
  if (sha256 !== undefined && found !== sha256) return undefined;
  if (gitBlob !== undefined && (await gitBlobOf(file)) !== gitBlob) return undefined;
  const { size } = statSync(file);
  return { file, bytes: size, sha256: found, hashFrom: 'caller', kept: size };
}

function confirm(expected: string, found: string, what: string, url: string): void {
  if (found === expected) return;
  throw new WorkbenchError('data', `expected ${what} ${expected}, got ${found}, at ${url}`, {
    hint: 'What came was removed. Try again; if it stays so, the file there is another than the one that is meant.',
  });
}

/**
 * Git object id of a file's content: SHA-1 over a header with its length, and its bytes. @source git,
 * Documentation/gitformat-loose.adoc
 */
async function gitBlobOf(path: string): Promise<string> {
  return (await hashOfFile(path, createHash('sha1').update(`blob ${statSync(path).size}\0`))).digest('hex');
}

const resumeHint = 'The same command resumes it.';

function stopped(part: PartFile): WorkbenchError {
  return new WorkbenchError('stopped', `stopped, ${soFar(part)}, at ${dirname(part.path)}`, { hint: resumeHint });
}

function gaveUp(part: PartFile, { message }: PassingTrouble): WorkbenchError {
  const expected = part.length === 0 ? 'a file' : 'the rest of a file';
  const got = `trouble (${message}), ${soFar(part)}`;
  return new WorkbenchError('failure', `expected ${expected}, got ${got}, at ${dirname(part.path)}`, {
    hint: resumeHint,
  });
}

function soFar({ length, state }: PartFile): string {
  return length === 0 ? 'nothing has come yet' : `${megabytes(length)} of ${megabytes(state?.bytes ?? 0)} MB are here`;
}

/** With one decimal. */
function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The address to ask for `text`: https anywhere, http only on this machine. Where `KGWALK_DOWNLOADS_BASE` names a mirror,
 * `https://HOST/PATH` is asked for as `BASE/HOST/PATH`; hashes are checked all the same.
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

function isLoopback(url: URL): boolean {
  return loopback.includes(url.hostname);
}

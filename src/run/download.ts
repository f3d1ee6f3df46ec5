/** Files from elsewhere: whole, checked by their hash, and resumed where a try broke off. */
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

/** From where to where, checked by what, and how patient to be. */
export interface DownloadOptions {
  /** `https://…`, or `http://` on this machine. */
  url: string;
  /** Where the file goes. Until it is whole and right, it lies in the folder `<file>.download`. */
  file: string;
  /** What the file must have, hex. Without it and `gitBlob`, the host's own hash counts (`x-linked-etag`). */
  sha256?: string | undefined;
  /** Id that git gives the file's content, hex: for files of repositories. */
  gitBlob?: string | undefined;
  bytes?: number | undefined;
  /** Take a file that nobody gives a hash for. Default false. */
  acceptUnverified?: boolean | undefined;
  /** Looks at the whole file before it gets its name; what it throws leaves none. */
  check?: (path: string) => void;
  label: string;
  progress?: ProgressReporter | undefined;
  signal?: AbortSignal | undefined;
  /**
   * In milliseconds: how long a connection may bring no bytes (`stall`, default 30,000), and the pause before the second try that
   * brings nothing new (`pause`, default 1,000), doubled for every further one; after `tries` such tries (default 5) it gives up.
   */
  patience?: Partial<typeof defaultPatience>;
}

const defaultPatience = { stall: 30_000, tries: 5, pause: 1000 };
const longestPause = 30_000;
/** Bytes left free on the disk. */
const spareBytes = 64 << 20;
const mostRedirects = 10;

/** What is there now, and who vouched for it. */
export interface Downloaded {
  file: string;
  bytes: number;
  sha256: string;
  /** Whose hash it was checked by; `nobody` where it was accepted unverified. */
  hashFrom: 'caller' | 'host' | 'nobody';
  /** Bytes of an earlier run that did not come again; all of them where the file was there already. */
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
  // What is kept and told of the address; a signature in it changes from one try to the next.
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

/** What is asked for, as the tries need it: `url` is told and kept, `address` asked, a mirror's where there is one. */
interface Wanted extends DownloadOptions {
  address: URL;
  show: (part: PartFile, note?: string) => void;
}

/** Tries until a try ends well, or too many in a row brought nothing new. */
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

/** Trouble of a transfer that another try may not meet: a cut, a stall, a busy server. */
class PassingTrouble extends Error {
  /** @param wait how long the server asks us to wait, milliseconds */
  constructor(
    message: string,
    readonly wait?: number,
  ) {
    super(message);
  }
}

/** One try: adds to `part` until the file is whole, or begins anew where the server cannot go on or has another file now. */
async function transfer(part: PartFile, wanted: Wanted, stall: number): Promise<void> {
  if (part.state && part.length === part.state.bytes) return;
  const stalled = new AbortController();
  const watch = setTimeout(() => stalled.abort(new PassingTrouble(`no bytes for ${stall / 1000} s`)), stall);
  const signal = wanted.signal ? AbortSignal.any([wanted.signal, stalled.signal]) : stalled.signal;
  try {
    const { response, told } = await openResponse(wanted.address, headersFor(part), signal);
    try {
      place(part, response, told, wanted);
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
    // Lengths and ranges are those of the file, not of a packed copy.
    'accept-encoding': 'identity',
    'user-agent': 'kgwalk',
    ...(length > 0 && { range: `bytes=${length}-` }),
    ...(length > 0 && state?.etag !== undefined && { 'if-range': state.etag }),
  };
}

/** What the host that was asked says of the file before it sends us elsewhere, as Hugging Face does for large files. */
interface Told {
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
): Promise<{ response: Response; told: Told }> {
  const told: Told = {};
  let at = url;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const response = await fetch(at, { headers, signal, redirect: 'manual' });
    if (at.host === url.host) listen(response.headers, told);
    const location = response.headers.get('location');
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirect && [200, 206, 416].includes(response.status)) return { response, told };
    await response.body?.cancel();
    if (!isRedirect) throw refusal(response, at);
    at = redirectAddress(at, location);
  }
  const place = `${url.origin}${url.pathname}`;
  throw new WorkbenchError('failure', `expected a file, got more than ${mostRedirects} redirects, at ${place}`);
}

function listen(headers: Headers, told: Told): void {
  const sha256 = /^"?([0-9a-f]{64})"?$/.exec(headers.get('x-linked-etag') ?? '')?.[1];
  const bytes = Number(headers.get('x-linked-size') ?? NaN);
  if (sha256 !== undefined) told.sha256 = sha256;
  if (Number.isSafeInteger(bytes)) told.bytes = bytes;
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

/** Makes the part fit what comes: as it is where the response goes on from it, empty where it begins anew. */
function place(part: PartFile, { headers, status }: Response, told: Told, wanted: Wanted): void {
  const tag = headers.get('etag');
  // A weak one may stay while bytes change.
  const etag = tag?.startsWith('W/') ? undefined : (tag ?? undefined);
  const sha256 = wanted.sha256 ?? told.sha256;
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
  const known = wanted.bytes ?? told.bytes;
  if (total === undefined || (known !== undefined && total !== known)) {
    const got = `${known ?? 'a number of'} bytes, got ${total ?? 'none announced'}`;
    const hint = 'The file there is another than the one that is meant.';
    throw new WorkbenchError('data', `expected ${got}, at ${wanted.url}`, { hint });
  }
  if (sha256 === undefined && wanted.gitBlob === undefined && !wanted.acceptUnverified) {
    const message = `expected a sha256 to check the file by, got none from the host, at ${wanted.url}`;
    const hint = 'Give --sha256 HASH from a source you trust, or --accept-unverified to take whatever comes.';
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

/** Bytes of the whole file, where the response goes on from `start`. */
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

/** `fetch` and the body it returns throw a TypeError with a cause for whatever happens on the wire. */
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

/** The id git gives a file's content: SHA-1 over a header with its length, and its bytes. @source git, Documentation/gitformat-loose.adoc */
async function gitBlobOf(path: string): Promise<string> {
  return (await hashOfFile(path, createHash('sha1').update(`blob ${statSync(path).size}\0`))).digest('hex');
}

const goesOn = 'The same command goes on from there.';

function stopped(part: PartFile): WorkbenchError {
  return new WorkbenchError('stopped', `stopped, ${soFar(part)}, at ${dirname(part.path)}`, { hint: goesOn });
}

function gaveUp(part: PartFile, { message }: PassingTrouble): WorkbenchError {
  const expected = part.length === 0 ? 'a file' : 'the rest of a file';
  const got = `trouble (${message}), ${soFar(part)}`;
  return new WorkbenchError('failure', `expected ${expected}, got ${got}, at ${dirname(part.path)}`, { hint: goesOn });
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

/** Where a redirect leads: to no other scheme, and not from outside to this machine. */
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

/** Files from elsewhere: whole, checked by their hash, and resumed where a try broke off. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { downloadAddress } from './download/address.js';
import { openPartFile } from './download/part-file.js';
import type { PartFile } from './download/part-file.js';
import { PassingTrouble } from './download/passing-trouble.js';
import { transfer } from './download/transfer.js';
import { WorkbenchError } from './errors.js';
import { sha256File, writeError } from './files.js';
import { silentProgress } from './progress.js';
import type { ProgressReporter } from './progress.js';
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
  /** For the progress line. */
  label: string;
  progress?: ProgressReporter | undefined;
  signal?: AbortSignal | undefined;
  patience?: Partial<Patience>;
}

/** How long a silent host is waited for and how often it is asked; times in milliseconds. */
export interface Patience {
  /** A connection without bytes for so long is given up. Milliseconds. Default 30,000. */
  stall: number;
  /** Tries that bring nothing new, one after the other, before it gives up. Default 5. */
  tries: number;
  /** Before the second such try, doubled for every further one. Milliseconds. Default 1,000. */
  pause: number;
}

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

const longestPause = 30_000;

/**
 * Gets a file. Trouble that may pass (cuts, stalls, busy servers) is waited out; bytes that came are kept for the next
 * try and the next run. An existing file with the given hash is left as it is.
 * @throws WorkbenchError `data` for other bytes than expected (they are removed), `failure` where the host or the disk
 *   refuses, `usage` for an address or a hash that will not do, `stopped` by the signal
 */
export async function downloadFile(options: DownloadOptions): Promise<Downloaded> {
  const { file, gitBlob, acceptUnverified = false, signal, progress = silentProgress } = options;
  const sha256 = options.sha256?.toLowerCase();
  const address = downloadAddress(options.url);
  // What is kept and told of the address; a signature in it changes from one try to the next.
  const url = masked(options.url);
  const here = await existing({ ...options, sha256 });
  if (here) return here;
  const folder = `${file}.download`;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw writeError(error, folder);
  }
  const unlock = lockFolder(folder, 'a download');
  let part: PartFile | undefined;
  let keep = true;
  try {
    part = await openPartFile(folder, url);
    if (sha256 !== undefined && part.state?.sha256 !== sha256) part.drop();
    const kept = part.length;
    const patience = { stall: 30_000, tries: 5, pause: 1000, ...options.patience };
    let line: ReturnType<ProgressReporter> | undefined;
    const show = ({ length, state }: PartFile, note?: string) => {
      line ??= progress(options.label, megabytes(state?.bytes ?? 0), 'MB', megabytes(length));
      line.update(megabytes(length), note);
    };
    try {
      await persist(part, patience, signal, show, (onBytes) =>
        transfer(part!, {
          url,
          address,
          sha256,
          bytes: options.bytes,
          unhashed: gitBlob !== undefined || acceptUnverified,
          stall: patience.stall,
          onBytes,
          signal,
        }),
      );
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

/** Tries until a try ends well, or too many in a row brought nothing new. */
async function persist(
  part: PartFile,
  { tries, pause }: Patience,
  signal: AbortSignal | undefined,
  show: (part: PartFile, note?: string) => void,
  attempt: (onBytes: (part: PartFile) => void) => Promise<void>,
): Promise<void> {
  let furthest = part.length;
  for (let failed = 0; ;) {
    try {
      if (signal?.aborted) throw signal.reason;
      return await attempt(show);
    } catch (error) {
      if (signal?.aborted) throw stopped(part);
      if (!(error instanceof PassingTrouble)) throw error;
      if (part.length > furthest) failed = 0;
      furthest = Math.max(furthest, part.length);
      if (++failed >= tries) throw gaveUp(part, error);
      show(part, `${error.message}; trying again`);
      await wait(
        Math.min(longestPause, Math.max(error.wait ?? 0, pause * 2 ** (failed - 1))),
        undefined,
        signal && { signal },
      ).catch(() => {});
    }
  }
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
  const hash = createHash('sha1').update(`blob ${statSync(path).size}\0`);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function stopped(part: PartFile): WorkbenchError {
  return new WorkbenchError('stopped', `stopped, ${soFar(part)}, at ${dirname(part.path)}`, {
    hint: 'The same command goes on from there.',
  });
}

function gaveUp(part: PartFile, { message }: PassingTrouble): WorkbenchError {
  return new WorkbenchError(
    'failure',
    `expected ${part.length === 0 ? 'a file' : 'the rest of a file'}, got trouble (${message}), ${soFar(part)}, at ${dirname(part.path)}`,
    {
      hint: 'The same command goes on from there.',
    },
  );
}

function soFar({ length, state }: PartFile): string {
  return length === 0 ? 'nothing has come yet' : `${megabytes(length)} of ${megabytes(state?.bytes ?? 0)} MB are here`;
}

/** With one decimal. */
function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

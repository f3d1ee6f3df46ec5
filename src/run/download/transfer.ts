/** One try to get the rest of a file. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { WorkbenchError } from '../errors.js';
import type { OpenedResponse } from './open-response.js';
import { openResponse } from './open-response.js';
import type { PartFile, PartState } from './part-file.js';
import { PassingTrouble } from './passing-trouble.js';

/** What is taken from where, and what ends it. */
export interface TransferOptions {
  /** As it was asked for, and where a mirror has it. */
  url: string;
  address: URL;
  /** What the caller knows of the file. */
  sha256?: string | undefined;
  bytes?: number | undefined;
  /** Whether a hash other than sha256 is known, or none needed. */
  unhashed: boolean;
  /** A connection without bytes for so long is given up. Milliseconds. */
  stall: number;
  onBytes: (part: PartFile) => void;
  signal: AbortSignal | undefined;
}

/** Left free on the disk. */
const spareBytes = 64 << 20;

/**
 * Adds to `part` until the file is whole, or begins anew where the server cannot go on or has another file now.
 * @throws PassingTrouble where another try may help; WorkbenchError where none does
 */
export async function transfer(part: PartFile, options: TransferOptions): Promise<void> {
  if (part.state && part.length === part.state.bytes) return;
  const stalled = new AbortController();
  const watch = setTimeout(
    () => stalled.abort(new PassingTrouble(`no bytes for ${options.stall / 1000} s`)),
    options.stall,
  );
  const signal = options.signal ? AbortSignal.any([options.signal, stalled.signal]) : stalled.signal;
  try {
    const opened = await openResponse(options.address, headersFor(part), signal);
    await place(part, opened, options);
    for await (const chunk of opened.response.body as unknown as AsyncIterable<Uint8Array>) {
      watch.refresh();
      if (part.length + chunk.byteLength > part.state!.bytes) {
        throw new WorkbenchError('failure', `expected ${part.state!.bytes} bytes, got more, at ${options.url}`);
      }
      part.append(chunk);
      options.onBytes(part);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isNetworkError(error) ? new PassingTrouble(reasonOf(error)) : error;
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

/** Makes the part fit what comes: as it is where the response goes on from it, empty where it begins anew. */
async function place(part: PartFile, { response, told }: OpenedResponse, options: TransferOptions): Promise<void> {
  const { headers, status } = response;
  const etag = headers.get('etag');
  const sha256 = options.sha256 ?? told.sha256;
  const total = status === 206 ? rangeOf(headers, part.length) : lengthOf(headers);
  const same =
    part.state?.bytes === total &&
    part.state?.sha256 === sha256 &&
    (etag === null || weak(etag) || (part.state?.etag ?? etag) === etag);
  if (status === 416 || (status === 206 && !same)) {
    await response.body?.cancel();
    part.drop();
    throw new PassingTrouble('the file is another than it was');
  }
  if (status === 206) return;
  const known = options.bytes ?? told.bytes;
  if (total === undefined || (known !== undefined && total !== known)) {
    await response.body?.cancel();
    throw new WorkbenchError(
      'data',
      `expected ${known ?? 'a number of'} bytes, got ${total ?? 'none announced'}, at ${options.url}`,
      {
        hint: 'The file there is another than the one that is meant.',
      },
    );
  }
  if (sha256 === undefined && !options.unhashed) {
    await response.body?.cancel();
    throw new WorkbenchError(
      'usage',
      `expected a sha256 to check the file by, got none from the host, at ${options.url}`,
      {
        hint: 'Give --sha256 HASH from a source you trust, or --accept-unverified to take whatever comes.',
      },
    );
  }
  const state: PartState = {
    url: options.url,
    bytes: total,
    ...(sha256 !== undefined && { sha256 }),
    ...(etag !== null && !weak(etag) && { etag }),
  };
  try {
    checkSpace(part.path, total);
  } catch (error) {
    await response.body?.cancel();
    throw error;
  }
  part.begin(state);
}

const weak = (etag: string) => etag.startsWith('W/');

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

function checkSpace(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  if (free >= bytes + spareBytes) return;
  const megabytes = (size: number) => `${Math.ceil(size / 1e6)} MB`;
  throw new WorkbenchError(
    'failure',
    `expected ${megabytes(bytes + spareBytes)} of free space, got ${megabytes(free)}, at ${dirname(path)}`,
    {
      hint: 'Free some space, or move the folder with KGWALK_HOME.',
    },
  );
}

/** `fetch` and the body it returns throw a TypeError with a cause for whatever happens on the wire. */
function isNetworkError(error: unknown): error is Error {
  const { name, cause } = error as Error;
  return name === 'TypeError' && cause !== undefined;
}

function reasonOf(error: Error): string {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}

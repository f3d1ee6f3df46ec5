/** What has come of a file so far, kept so that a later run can go on from there. */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeError, writeFileAtomic, writeFully } from '../files.js';

const stateSchema = z.strictObject({
  /** As it was asked for. */
  url: z.string(),
  /** What the file must have in the end; none where nothing is known. */
  sha256: z.string().optional(),
  bytes: z.int().min(0),
  /** A strong one: other bytes have another. */
  etag: z.string().optional(),
});

/** What the bytes belong to: those of another state cannot be added to them. */
export type PartState = z.output<typeof stateSchema>;

/** A file that is being filled; close it after use. */
export interface PartFile {
  /** Its path. */
  readonly path: string;
  /** Bytes that are here. */
  readonly length: number;
  readonly state: PartState | undefined;
  append(chunk: Uint8Array): void;
  /** Drops what is here, and says what comes now. */
  begin(state: PartState): void;
  drop(): void;
  /** sha256 of what is here, hex; on disk for certain afterwards. */
  finish(): string;
  /** Once or more. */
  close(): void;
}

/**
 * Opens `part` and `state.json` of a folder; the bytes of an earlier run are read once, for their hash. What does not
 * belong together is dropped.
 */
export async function openPartFile(folder: string, url: string): Promise<PartFile> {
  const path = join(folder, 'part');
  const stateFile = join(folder, 'state.json');
  let state = readState(stateFile);
  const usable = state?.url === url && existsSync(path);
  const descriptor = openSync(path, usable ? 'r+' : 'w+');
  let length = usable ? fstatSync(descriptor).size : 0;
  let hash: Hash = createHash('sha256');
  let open = true;
  if (!usable || length > state!.bytes) drop();
  else if (length > 0) {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  }

  function drop(): void {
    ftruncateSync(descriptor, 0);
    rmSync(stateFile, { force: true });
    state = undefined;
    length = 0;
    hash = createHash('sha256');
  }
  return {
    path,
    get length() {
      return length;
    },
    get state() {
      return state;
    },
    append(chunk) {
      try {
        writeFully(descriptor, chunk, length);
      } catch (error) {
        throw writeError(error, path);
      }
      hash.update(chunk);
      length += chunk.byteLength;
    },
    begin(next) {
      drop();
      writeFileAtomic(stateFile, JSON.stringify(next));
      state = next;
    },
    drop,
    finish() {
      fsyncSync(descriptor);
      return hash.copy().digest('hex');
    },
    close() {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}

function readState(file: string): PartState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** A partly downloaded file, kept so that a later run can resume it. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { hashOfFile, writeError, writeFileAtomic, writeFully } from './files.js';

const stateSchema = z.strictObject({
  /** The requested address. */
  url: z.string(),
  /** Expected hash of the complete file; absent if unknown. */
  sha256: z.string().optional(),
  bytes: z.int().min(0),
  /** Strong ETag: changes with the bytes. */
  etag: z.string().optional(),
});

/** Origin of the bytes: bytes of another origin cannot be appended. */
export type PartState = z.output<typeof stateSchema>;

/** A file being filled: `part` in a folder, with its state in `state.json`; close it after use. */
export class PartFile {
  readonly path: string;
  /** Bytes received. */
  length = 0;
  state: PartState | undefined;
  readonly #stateFile: string;
  #descriptor: number | undefined;
  #hash = createHash('sha256');

  private constructor(folder: string, url: string) {
    this.path = join(folder, 'part');
    this.#stateFile = join(folder, 'state.json');
    this.state = readState(this.#stateFile);
    const usable = this.state?.url === url && existsSync(this.path);
    this.#descriptor = openSync(this.path, usable ? 'r+' : 'w+');
    if (usable) this.length = fstatSync(this.#descriptor).size;
    if (!usable || this.length > this.state!.bytes) this.drop();
  }

  /** Hashes the bytes of an earlier run once. Inconsistent parts are dropped. */
  static async open(folder: string, url: string): Promise<PartFile> {
    const part = new PartFile(folder, url);
    if (part.length > 0) await hashOfFile(part.path, part.#hash);
    return part;
  }

  append(chunk: Uint8Array): void {
    try {
      writeFully(this.#descriptor!, chunk, this.length);
    } catch (error) {
      throw writeError(error, this.path);
    }
    this.#hash.update(chunk);
    this.length += chunk.byteLength;
  }

  /** Empties the part for a new origin. */
  begin(state: PartState): void {
    this.drop();
    writeFileAtomic(this.#stateFile, JSON.stringify(state));
    this.state = state;
  }

  drop(): void {
    ftruncateSync(this.#descriptor!, 0);
    rmSync(this.#stateFile, { force: true });
    this.state = undefined;
    this.length = 0;
    this.#hash = createHash('sha256');
  }

  /** sha256 of the received bytes, hex; flushed to disk. */
  finish(): string {
    fsyncSync(this.#descriptor!);
    return this.#hash.copy().digest('hex');
  }

  /** May be called more than once. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function readState(file: string): PartState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Reads a file front to back without ever trusting a length it states. */
import { readSync } from 'node:fs';

/** Thrown when the file ends before what it announced; the reader that knows the path turns it into an error for the user. */
export class EndOfFile extends Error {}

/** A little-endian cursor over an open file. Every method throws `EndOfFile` rather than reading past the end. */
export interface ByteCursor {
  /** Bytes before the next read. */
  position(): number;
  remaining(): number;
  /** The next bytes, as a view that is valid until the next call. @param length at most a megabyte */
  take(length: number): DataView;
  /** The next bytes as text, UTF-8, broken sequences replaced. */
  text(length: number): string;
  skip(length: number): void;
}

const windowBytes = 1 << 20;

/**
 * @param descriptor of a file opened for reading; stays the caller's to close
 * @param size of the file, bytes
 */
export function byteCursor(descriptor: number, size: number): ByteCursor {
  const buffer = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(size, 1)));
  let at = 0;
  let windowStart = 0;
  let windowEnd = 0;

  function require(length: number): void {
    if (length > size - at) throw new EndOfFile();
  }
  function take(length: number): DataView {
    require(length);
    if (at < windowStart || at + length > windowEnd) {
      windowStart = at;
      windowEnd = at + readSync(descriptor, buffer, 0, Math.min(buffer.length, size - at), at);
      if (at + length > windowEnd) throw new EndOfFile();
    }
    const view = new DataView(buffer.buffer, buffer.byteOffset + at - windowStart, length);
    at += length;
    return view;
  }
  return {
    position: () => at,
    remaining: () => size - at,
    take,
    text: (length) => new TextDecoder().decode(take(length)),
    skip(length) {
      require(length);
      at += length;
    },
  };
}

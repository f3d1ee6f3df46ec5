/** Frames between this program and clients of its environments: length u32, op u8, body; little endian. */
import { WorkbenchError } from '../../src/run/errors.js';

/** Protocol version; raised by incompatible changes. */
export const protocolVersion = 1;

/** Frame types: requests, replies of the same name, or an error. */
export const ops = { hello: 1, reset: 2, step: 3, close: 4, error: 5, act: 6, predict: 7 } as const;

const lengthBytes = 4;

/** One frame; `op` may be any byte. */
export type Frame = { op: number; body: Buffer };

/** @param parts the body, in pieces; copied */
export function frame(op: number, parts: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(lengthBytes + 1);
  head.writeUInt32LE(1 + parts.reduce((sum, part) => sum + part.length, 0));
  head[lengthBytes] = op;
  return Buffer.concat([head, ...parts]);
}

/**
 * Frames of a stream. Memory grows with the received bytes, not with the claimed length, up to `longest`.
 * @param longest maximum bytes of op and body
 * @throws WorkbenchError `data` for a length outside 1 … `longest`; the stream cannot be read further
 */
export async function* readFrames(chunks: AsyncIterable<Buffer>, longest: number): AsyncGenerator<Frame> {
  let held: Buffer[] = [];
  let size = 0;
  let wanted = lengthBytes;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      let all: Buffer = held.length === 1 ? held[0]! : Buffer.concat(held, size);
      if (wanted === lengthBytes) {
        const length = all.readUInt32LE();
        if (length < 1 || length > longest) {
          throw new WorkbenchError('data', `expected a frame of 1 to ${longest} bytes, got ${length}, at the length`);
        }
        wanted = lengthBytes + length;
      }
      if (size >= wanted) {
        yield { op: all[lengthBytes]!, body: all.subarray(lengthBytes + 1, wanted) };
        all = all.subarray(wanted);
        wanted = lengthBytes;
      }
      held = all.length > 0 ? [all] : [];
      size = all.length;
    }
  }
}

export function errorBody(thrown: unknown): Buffer {
  const { message, hint } = thrown instanceof Error ? (thrown as WorkbenchError) : { message: String(thrown) };
  const code = thrown instanceof WorkbenchError ? thrown.code : 'failure';
  return Buffer.from(JSON.stringify({ code, message, hint }));
}

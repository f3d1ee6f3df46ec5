/** Plain data with typed arrays and maps as text that a page holds, and back. */
import { gzipSync } from 'node:zlib';

const types = { Float32Array, Float64Array, Int32Array, Uint32Array, Uint16Array, Int16Array, Uint8Array };
type TypeName = keyof typeof types;
type Numbers = InstanceType<(typeof types)[TypeName]>;

/** Arrays begin at multiples of it. */
const step = 8;
const padded = (length: number) => Math.ceil(length / step) * step;

/** JSON, with the arrays behind it; compressed, in base64. What JSON lacks, maps aside, is left out. */
export function pack(value: unknown): string {
  const arrays: Numbers[] = [];
  let end = 0;
  const json = JSON.stringify(value, (_, one: unknown) => {
    if (one instanceof Map) return { $map: [...one] };
    if (!ArrayBuffer.isView(one)) return one;
    const numbers = one as Numbers;
    arrays.push(numbers);
    const begin = end;
    end += padded(numbers.byteLength);
    return { $array: [numbers.constructor.name, begin, numbers.length] };
  });
  const text = Buffer.from(json);
  const base = padded(4 + text.length);
  const bytes = Buffer.alloc(base + end);
  bytes.writeUInt32LE(text.length);
  bytes.set(text, 4);
  let at = base;
  for (const numbers of arrays) {
    bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), at);
    at += padded(numbers.byteLength);
  }
  return gzipSync(bytes, { level: 9 }).toString('base64');
}

/** The data again, in Node and in browsers. Its arrays are views of one buffer. */
export async function unpack<T>(packed: string): Promise<T> {
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const buffer = await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')),
  ).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const base = padded(4 + length);
  type Marked = { $map?: [unknown, unknown][]; $array?: [TypeName, number, number] } | null;
  return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)), (_, one: Marked) => {
    if (one?.$map) return new Map(one.$map);
    if (!one?.$array) return one;
    const [type, begin, count] = one.$array;
    return new types[type](buffer, base + begin, count);
  }) as T;
}

/** Plain data with typed arrays and maps as text that a page holds, and back. */
import { gzipSync } from 'node:zlib';

const types = { Float32Array, Float64Array, Int32Array, Uint32Array, Uint16Array, Int16Array, Uint8Array };
type TypeName = keyof typeof types;
type Numbers = InstanceType<(typeof types)[TypeName]>;

/** Arrays begin at multiples of it. */
const step = 8;
const padded = (length: number) => Math.ceil(length / step) * step;

/** Float32 is stored byte by byte: all first bytes, all second ones …, since signs and exponents alone compress. */
const planesOf = (numbers: Numbers) => (numbers instanceof Float32Array ? 4 : 1);

function byPlane(bytes: Uint8Array, planes: number): Uint8Array<ArrayBuffer> {
  const length = bytes.length / planes;
  const out = new Uint8Array(bytes.length);
  for (let i = 0, at = 0; i < length; i++)
    for (let plane = 0; plane < planes; plane++) out[plane * length + i] = bytes[at++]!;
  return out;
}

/** The inverse of `byPlane`, in place. */
function together(numbers: Numbers): Numbers {
  const planes = planesOf(numbers);
  if (planes === 1) return numbers;
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  bytes.set(byPlane(bytes, bytes.length / planes));
  return numbers;
}

/**
 * Numbers with 18 bits behind the point instead of 23, half the size when packed. Cosines of vectors of length 1 differ by 10⁻⁷.
 */
export function rounded(values: Float32Array): Float32Array {
  const bits = new Uint32Array(values.slice().buffer);
  for (let i = 0; i < bits.length; i++) bits[i] = ((bits[i]! + 16) >>> 5) << 5;
  return new Float32Array(bits.buffer);
}

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
    bytes.set(byPlane(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), planesOf(numbers)), at);
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
    return together(new types[type](buffer, base + begin, count));
  }) as T;
}

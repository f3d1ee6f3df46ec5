/** Number types of GGUF tensors that are read: blocks of values with a scale each. @source ggml-common.h, `block_*`; ggml-quants.c */

/** Storage of one block. */
interface BlockType {
  values: number;
  bytes: number;
  /** Values of the block at `at` into `out` from `i` on. */
  read(view: DataView, at: number, out: Float32Array, i: number): void;
}

/** Blocks of 32 with a scale, a least value or a middle, and four low bits each, the first half of the block in the low halves of the bytes. */
function fourBits({ least, high }: { least: boolean; high: boolean }): BlockType {
  const head = (least ? 4 : 2) + (high ? 4 : 0);
  const middle = high ? 16 : 8;
  return {
    values: 32,
    bytes: head + 16,
    read(view, at, out, i) {
      const scale = halfAt(view, at);
      const offset = least ? halfAt(view, at + 2) : -middle * scale;
      const fifth = high ? view.getUint32(at + head - 4, true) : 0;
      for (let j = 0; j < 16; j++) {
        const byte = view.getUint8(at + head + j);
        out[i + j] = scale * ((byte & 15) | (((fifth >>> j) & 1) << 4)) + offset;
        out[i + j + 16] = scale * ((byte >>> 4) | (((fifth >>> (j + 16)) & 1) << 4)) + offset;
      }
    },
  };
}

const plain = (bytes: number, valueAt: (view: DataView, at: number) => number): BlockType => ({
  ...{ values: 1, bytes },
  read: (view, at, out, i) => (out[i] = valueAt(view, at)),
});

const types: Readonly<Record<string, BlockType>> = {
  F32: plain(4, (view, at) => view.getFloat32(at, true)),
  F16: plain(2, halfAt),
  BF16: plain(2, (view, at) => singleOf(view.getUint16(at, true) << 16)),
  Q4_0: fourBits({ least: false, high: false }),
  Q4_1: fourBits({ least: true, high: false }),
  Q5_0: fourBits({ least: false, high: true }),
  Q5_1: fourBits({ least: true, high: true }),
  Q8_0: {
    ...{ values: 32, bytes: 34 },
    read(view, at, out, i) {
      const scale = halfAt(view, at);
      for (let j = 0; j < 32; j++) out[i + j] = scale * view.getInt8(at + 2 + j);
    },
  },
  // Eight runs of 32 with scales and least values of six bits each, in 12 bytes: the last four runs have their high bits in the first eight.
  Q4_K: {
    ...{ values: 256, bytes: 144 },
    read(view, at, out, i) {
      const [scale, least] = [halfAt(view, at), halfAt(view, at + 2)];
      const packed = (j: number) => view.getUint8(at + 4 + j);
      for (let run = 0; run < 8; run++) {
        const [low, high] = [packed(run + 4), packed(run - (run < 4 ? 0 : 4))];
        const sixBits = run < 4 ? [high & 63, low & 63] : [(low & 15) | ((high >>> 6) << 4), (low >>> 4) | ((packed(run) >>> 6) << 4)]; // prettier-ignore
        const [by, minus] = [scale * sixBits[0]!, least * sixBits[1]!];
        const from = at + 16 + 32 * (run >>> 1);
        for (let j = 0; j < 32; j++) {
          out[i + 32 * run + j] = by * ((view.getUint8(from + j) >>> (run & 1 ? 4 : 0)) & 15) - minus;
        }
      }
    },
  },
  // Sixteen runs of 16 with a scale of a byte; four low bits in the first 128 bytes, two high ones in 64 behind them.
  Q6_K: {
    ...{ values: 256, bytes: 210 },
    read(view, at, out, i) {
      const scale = halfAt(view, at + 208);
      for (let k = 0; k < 256; k++) {
        const [half, quarter, j] = [k >>> 7, (k >>> 5) & 3, k & 31];
        const low = view.getUint8(at + 64 * half + j + (quarter & 1 ? 32 : 0)) >>> (quarter & 2 ? 4 : 0);
        const high = view.getUint8(at + 128 + 32 * half + j) >>> (2 * quarter);
        out[i + k] = scale * view.getInt8(at + 192 + (k >>> 4)) * (((low & 15) | ((high & 3) << 4)) - 32);
      }
    },
  },
};

/** Names of the types, as GGUF has them. */
export const readableTypes: readonly string[] = Object.keys(types);

/** Bytes of as many values; undefined for another type, and where they are no whole blocks. */
export function tensorBytes(type: string, size: number): number | undefined {
  const block = types[type];
  return block && size % block.values === 0 ? (size / block.values) * block.bytes : undefined;
}

/** Numbers of a tensor as its file holds them: little-endian, from any place. @param type of `readableTypes` @param size number of values, whole blocks */
export function tensorValues(type: string, bytes: Uint8Array, size: number): Float32Array {
  const { values, bytes: blockBytes, read } = types[type]!;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Float32Array(size);
  for (let i = 0, at = 0; i < size; i += values, at += blockBytes) read(view, at, out, i);
  return out;
}

const word = new Uint32Array(1);
const single = new Float32Array(word.buffer);

function singleOf(bits: number): number {
  word[0] = bits;
  return single[0]!;
}

/** The number of the bits of a half, exact. */
function halfAt(view: DataView, at: number): number {
  const bits = view.getUint16(at, true);
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >>> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

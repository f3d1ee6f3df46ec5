/** Charts as PNG of few colours: half the bytes and the time of one that keeps every shade. */
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Encodes an opaque picture with at most 256 colours: shades that agree in their first bits become the first of them that
 * is met, in as many bits as fit.
 * @param pixels RGBA, uint8 [height × width × 4], rows from the top; opacity is left out
 */
export function indexedPng(pixels: Uint8Array, width: number, height: number): Buffer {
  let bits = 5;
  let quantized = quantize(pixels, bits);
  while (!quantized) quantized = quantize(pixels, --bits);
  const { indices, palette } = quantized;
  // Every row begins with its filter, which is none.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette)),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...chunks]);
}

/** @returns undefined where `bits` a channel leave more than 256 colours */
function quantize(pixels: Uint8Array, bits: number): { indices: Uint8Array; palette: number[] } | undefined {
  const shift = 8 - bits;
  const indexOf = new Int16Array(1 << (3 * bits)).fill(-1);
  const indices = new Uint8Array(pixels.length / 4);
  const palette: number[] = [];
  for (let i = 0, p = 0; i < indices.length; i++, p += 4) {
    const [r, g, b] = [pixels[p]!, pixels[p + 1]!, pixels[p + 2]!];
    const key = ((r >> shift) << (2 * bits)) | ((g >> shift) << bits) | (b >> shift);
    if (indexOf[key]! < 0) {
      if (palette.length === 3 * 256) return undefined;
      indexOf[key] = palette.length / 3;
      palette.push(r, g, b);
    }
    indices[i] = indexOf[key]!;
  }
  return { indices, palette };
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}

/** Matrices in NumPy's format `.npy`, read row by row: a table may be larger than the memory. */
import { closeSync, openSync, statSync } from 'node:fs';
import { WorkbenchError } from '../run/errors.js';
import { readError, readFully, refuseSpecial } from '../run/files.js';

/** An open matrix of numbers; close it after use. */
interface NpyMatrix {
  readonly rows: number;
  /** True if the file holds complex numbers: each is two numbers of a row, its real part and its imaginary one. */
  readonly complex: boolean;
  /** Numbers of a row. */
  readonly width: number;
  /** Calls `take` for every row in order, rounded to float32, in memory of a fixed size. @param take may not keep the values */
  eachRow(take: (values: Float32Array, row: number) => void): void;
  close(): void;
}

const magic = '\x93NUMPY';
/** Bytes of rows that are held at once. */
const blockBytes = 2 ** 22;
/** A header is a line of text about dtype and shape. */
const maxHeaderBytes = 2 ** 16;

const arrayTypes = { '<f4': Float32Array, '<f8': Float64Array, '<c8': Float32Array, '<c16': Float64Array } as const;
const header =
  /^\{'descr': '(?<descr>[^']*)', 'fortran_order': (?<fortran>True|False), 'shape': \((?<shape>[\d, ]*)\), *\} *\n?$/;

/**
 * Opens a matrix of float32, float64 or complex numbers of them, little-endian, row after row: what `numpy.save` writes of such an array. Objects, which
 * only a program could unpack, are refused like every other type.
 * @throws WorkbenchError `data` for another file, or one that is cut short
 * @source https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3
 */
export function openNpy(file: string): NpyMatrix {
  refuseSpecial(file, 'a matrix');
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    throw readError(error, file, 'matrix');
  }
  try {
    return matrixOf(file, descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function matrixOf(file: string, descriptor: number): NpyMatrix {
  const wrong = (expected: string, got: string) =>
    new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}`, {
      hint: 'Write it by numpy.save(file, numpy.ascontiguousarray(matrix, dtype="<f4")).',
    });
  const begin = new Uint8Array(12);
  readFully(descriptor, begin, 0);
  if (Buffer.from(begin.subarray(0, 6)).toString('latin1') !== magic) throw wrong('a .npy file', 'another');
  const view = new DataView(begin.buffer);
  const [lengthAt, wide] = [8, begin[6]! > 1];
  const length = wide ? view.getUint32(lengthAt, true) : view.getUint16(lengthAt, true);
  if (length > maxHeaderBytes) throw wrong('a header of a line', `${length} bytes`);
  const text = Buffer.alloc(length);
  const headerAt = lengthAt + (wide ? 4 : 2);
  readFully(descriptor, text, headerAt);
  const said = header.exec(text.toString('latin1'))?.groups;
  if (!said) throw wrong('dtype, order and shape in the header', JSON.stringify(text.toString('latin1').slice(0, 100)));
  const type = arrayTypes[said.descr as keyof typeof arrayTypes];
  if (!type) throw wrong(`numbers of ${Object.keys(arrayTypes).join(' or ')}`, said.descr!);
  if (said.fortran === 'True') throw wrong('rows one after the other', 'columns (fortran_order)');
  const shape = said
    .shape!.split(',')
    .filter((size) => size.trim() !== '')
    .map(Number);
  const complex = said.descr!.startsWith('<c');
  const [rows, columns = 0] = shape;
  const width = columns * (complex ? 2 : 1);
  if (shape.length !== 2 || width === 0) throw wrong('a matrix', `the shape (${said.shape})`);
  const dataAt = headerAt + length;
  const rowBytes = width * type.BYTES_PER_ELEMENT;
  const { size } = statSync(file);
  if (size < dataAt + rows! * rowBytes) throw wrong(`${rows} rows of ${rowBytes} bytes`, `${size - dataAt} bytes`);
  return {
    rows: rows!,
    complex,
    width,
    eachRow(take) {
      // Then nothing bounds the width.
      if (rows === 0) return;
      const held = Math.max(1, Math.min(rows!, Math.floor(blockBytes / rowBytes)));
      const block = new type(held * width);
      const row = new Float32Array(width);
      for (let first = 0; first < rows!; first += held) {
        const count = Math.min(held, rows! - first);
        readFully(descriptor, new Uint8Array(block.buffer, 0, count * rowBytes), dataAt + first * rowBytes);
        for (let i = 0; i < count; i++) {
          row.set(block.subarray(i * width, (i + 1) * width));
          take(row, first + i);
        }
      }
    },
    close: () => closeSync(descriptor),
  };
}

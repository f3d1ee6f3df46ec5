/** The metric log of a run that another process writes, as it grows. */
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { readFully } from '../src/run/files.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { metricRecord, type MetricRecord } from '../src/run/records.js';

/**
 * Tells every record once, in order. A run that goes on after a kill cuts its log and writes the same lines again: those are passed over.
 * @returns `look`: tells what has been added since; to be called now and then
 */
export function followMetrics(file: string, onRecord: (record: MetricRecord) => void): () => void {
  let offset = 0;
  let line = 0;
  let told = 0;
  return () => {
    if (!existsSync(file)) return;
    const bytes = bytesFrom(file, offset);
    if (bytes === undefined) {
      offset = 0;
      line = 0;
      return;
    }
    const whole = bytes.lastIndexOf('\n') + 1;
    offset += whole;
    const lines = bytes.toString('utf8', 0, whole).split('\n').slice(0, -1);
    for (const text of lines) {
      line++;
      if (line <= told) continue;
      told = line;
      const about = { what: 'a line of this log', place: `${file}:${line}` };
      onRecord(ofShape(parseJson(text, about), metricRecord, about));
    }
  };
}

/** Undefined for a file that has become shorter. */
function bytesFrom(file: string, offset: number): Buffer | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    if (size < offset) return undefined;
    const bytes = Buffer.alloc(size - offset);
    readFully(descriptor, bytes, offset);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

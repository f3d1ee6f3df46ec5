/** `kgwalk models info`. */
import { poolingsOf } from '../../src/encoder/embedding-model.js';
import { modelRecord } from '../../src/llm/download-model.js';
import { describeModel } from '../../src/llm/gguf/describe-model.js';
import { isModelPath, modelFile } from '../../src/llm/model-files.js';
import { sha256File } from '../../src/run/files.js';
import { printJson, printLine } from '../output.js';
import { megabytes } from './sizes.js';

/** Prints what a model file says of itself, and its hash. */
export async function describe(spec: string, { json }: { json?: boolean }): Promise<void> {
  const file = modelFile(spec);
  const facts = describeModel(file);
  const poolings = poolingsOf(file);
  const sha256 = await sha256File(file);
  const record = isModelPath(spec) ? undefined : modelRecord(spec);
  const source = record && { url: record.url, hashFrom: record.hashFrom };
  if (json) return printJson({ file, ...facts, poolings, sha256, ...source });
  const { embeddingLength, heads, keyValueHeads, tokenizer, vocabulary, pooling, contextLength } = facts;
  const shared = keyValueHeads === undefined || keyValueHeads === heads ? '' : `, ${keyValueHeads} of keys and values`;
  const rows: [string, string | number | undefined][] = [
    ['file', file],
    ['name', facts.name],
    ['architecture', facts.architecture],
    ['size', `${megabytes(facts.bytes)} MB, ${count(facts.parameters)} parameters, ${facts.quantisation}`],
    ['context', contextLength === undefined ? undefined : `${contextLength} tokens`],
    ['layers', facts.layers],
    ['heads', heads === undefined ? undefined : `${heads}${shared}`],
    ['vocabulary', `${vocabulary ?? 'none'}${tokenizer === undefined ? '' : ` tokens (${tokenizer})`}`],
    ['chat template', facts.chatTemplate === 'none' ? 'none: prompts are laid out plainly' : facts.chatTemplate],
    ['text vectors', poolings.length === 0 ? 'none' : `${embeddingLength} numbers, pooling ${pooling ?? 'last token'}`],
    ['poolings', poolings.length === 0 ? undefined : `${poolings.join(', ')} (encoder.pooling)`],
    ['licence', record?.licence ?? facts.licence],
    ['from', source?.url],
    ['sha256', sha256],
  ];
  for (const [label, value] of rows) if (value !== undefined) printLine(`${label.padEnd(14)} ${value}`);
}

function count(parameters: number): string {
  for (const [size, unit] of [
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k'],
  ] as const) {
    if (parameters >= size) return `${(parameters / size).toPrecision(3)}${unit}`;
  }
  return String(parameters);
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { existsSync } from 'node:fs';
import type { LlamaModel, Token } from 'node-llama-cpp';
import { type BytePairTokenizer, bytePairTokenizer } from '../../../models/llama/byte-pair/byte-pair-tokenizer.js';
import { chatSegments } from '../../../models/llama/chat-segments.js';
import { hiddenStates } from '../../../models/llama/token-loss.js';
import { logitsOf, trainedWeights } from '../../../src/llama/forward.js';
import { llamaParameters } from '../../../models/llama/weights.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { documentTokens } from '../../../models/llama/token-corpus.js';
import { openEncoder } from '../../../src/encoder/open-encoder.js';
import { encoderSettings } from '../../../src/encoder/settings.js';
import { chatLayout } from '../../../src/llm/llama/layouts.js';
import { llamaLibrary, openLlama } from '../../../src/llm/llama-library.js';
import { centredCosine, llamaForward } from '../../fixtures/llama-forward.js';
import { type OpenedLlama, openLlamaFile, tinyLlama } from '../../fixtures/tiny-llama.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const demo = 'models/demo/kgwalk-demo.gguf';
/** `cosine`: of the logits, at least. llama.cpp rounds both sides of a product with Q8_0, and random weights average little away. */
const files = [
  { name: 'a small Llama with random weights', open: tinyLlama, cosine: 0.997 },
  ...(existsSync(demo) ? [{ name: 'the embedded Llama', open: () => openLlamaFile(demo), cosine: 0.999 }] : []),
];

const prompt = 'Question: Who directed "The Winter Sea" (1984)?\nCandidates:\n1. directed_by\n12. written_by\nReply:';

describe.each(files)('$name, written here and run by llama.cpp', ({ open, cosine }) => {
  let file: OpenedLlama;
  let model: LlamaModel;
  let tokenizer: BytePairTokenizer;
  beforeAll(async () => {
    file = await open();
    tokenizer = bytePairTokenizer(file.vocabulary);
    model = await (await openLlama('off')).loadModel({ modelPath: file.path });
  });
  afterAll(() => model.dispose());

  test('reads texts as the same tokens', () => {
    const piece = fc.oneof(
      fc.constantFrom(' ', '  ', '\n', '\n\n', '\t', '\r\n', "'s", "'LL", '_', '"', '["', '<s>', '<|im_end|>', '~'),
      fc.nat(2100).map(String),
      fc.constantFrom('The Winter Sea', 'Ödön', 'Łódź', 'ﬁ', '東京', 'é', '👩‍🚀', 'naïve', '½', '٣'),
      fc.constantFrom('\u0085', '\ufeff', '\ufffd'),
      fc.string({ maxLength: 6 }),
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const ids = tokenizer.encode(text);
        expect(ids).toEqual(model.tokenize(text));
        expect(tokenizer.decode(ids)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('reads numbers up to forty as one token, after a space too', () => {
    for (let number = 0; number <= 40; number++) {
      expect(model.tokenize(String(number))).toHaveLength(1);
      expect(model.tokenize(` ${number}`)).toHaveLength(1);
    }
  });

  test('reads a chat request as the tokens of its segments', async () => {
    const layout = chatLayout(await llamaLibrary(), model);
    expect(layout.kind).toBe('template');
    const texts = ['You do small tasks.', 'Task\n\n', '\n a', '  x', '"12"', '<|im_end|>', 'é\n', prompt];
    const bodies = fc.constantFrom(...texts);
    fc.assert(
      fc.property(
        fc.constantFrom('', 'Reply with JSON only.', ' \n'),
        fc.oneof(fc.constantFrom('', ' '), bodies),
        bodies,
        (system, head, body) => {
          const tokens = layout.tokens({ system, head, body });
          const { ids, weights } = documentTokens(tokenizer, chatSegments(system, head, body));
          expect([...ids]).toEqual([...tokens.head, ...tokens.body]);
          expect(weights.every((weight) => weight === 0)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
    const reply = documentTokens(tokenizer, chatSegments('', '', 'x', '["a"]'));
    expect(reply.ids.at(-1)).toBe(model.tokens.eot);
    expect(model.isEogToken(model.tokens.eot!)).toBe(true);
    expect([...reply.weights].filter((weight) => weight === 1)).toHaveLength(tokenizer.encode('["a"]').length + 1);
  });

  // The second is long enough for attention in several blocks.
  test.each([
    { of: 'a plain forward pass', logitsOf: plainLogits, text: prompt },
    { of: 'the forward pass that is trained', logitsOf: trainedLogits, text: `${prompt}\n`.repeat(4) },
  ])('gives the logits of $of all along a text', async ({ logitsOf, text }) => {
    const ids = [tokenizer.special.bos, ...tokenizer.encode(text)].slice(0, 140);
    const expected = await logitsOf(file, ids);
    const context = await model.createContext({ contextSize: 256, threads: 1 });
    const output = await context
      .getSequence()
      .controlledEvaluate(ids.map((id, position) => [id as Token, { generateNext: { logits: position % 7 === 0 } }]));
    for (let position = 0; position < ids.length; position += 7) {
      const row = expected[position]!;
      const theirs = output[position]!.next.logits!;
      const given = Array.from(row, (_, id) => theirs.get(id as Token)!);
      expect(centredCosine(row, given)).toBeGreaterThan(cosine);
    }
    await context.dispose();
  });

  /** Read once, for both ways to pool. */
  let statesOf: Float64Array[][] | undefined;

  test.each([
    { pooling: 'last', of: (states: Float64Array[]) => states.at(-1)! },
    { pooling: 'mean', of: meanOf },
  ])('encodes a text as the $pooling of the states of <s>, the text and </s>', async ({ pooling, of }) => {
    const { special, encode } = tokenizer;
    const settings = encoderSettings.parse({ workers: 1, pooling, prefixReuse: 'auto' });
    const cacheFolder = folderWith({});
    const encoder = await openEncoder(settings, { modelPath: file.path, cacheFolder });
    const texts = [prompt, 'The Winter Sea', ' directed_by'];
    const { matrix, rows, dim } = await encoder.encode(texts);
    statesOf ??= texts.map(
      (text) => llamaForward(file.config, file.weights, [special.bos, ...encode(text), special.eos]).states,
    );
    for (const [index, states] of statesOf.entries()) {
      const vector = matrix.subarray(rows[index]! * dim, (rows[index]! + 1) * dim);
      expect(centredCosine(vector, of(states))).toBeGreaterThan(0.999);
    }
    await encoder.dispose();
  });
});

function meanOf(rows: readonly Float64Array[]): Float64Array {
  return rows[0]!.map((_, k) => rows.reduce((sum, row) => sum + row[k]! / rows.length, 0));
}

function plainLogits({ config, weights }: OpenedLlama, ids: readonly number[]): Promise<ArrayLike<number>[]> {
  return Promise.resolve(llamaForward(config, weights, ids).logits);
}

async function trainedLogits({ config, weights }: OpenedLlama, ids: readonly number[]): Promise<ArrayLike<number>[]> {
  const tape = new Tape(llamaParameters(new SimdExecutor(), config, weights), false);
  const states = hiddenStates(tape, config, { ids: Int32Array.from(ids), batch: 1, length: ids.length });
  const logits = await tape.outputs([logitsOf(tape, trainedWeights(tape), states)]).read();
  return ids.map((_, position) => logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize));
}

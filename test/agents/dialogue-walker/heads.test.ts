import { afterEach, describe, expect, test } from '@jest/globals';
import type { HeadShape, WalkerHead } from '../../../agents/dialogue-walker/heads/head.js';
import { Featurizer } from '../../../agents/dialogue-walker/features/featurizer.js';
import { frozenTables, noTables } from '../../../agents/dialogue-walker/vectors.js';
import { createWalkerHead, headsByMargins } from '../../../agents/dialogue-walker/heads/registry.js';
import { initialState } from '../../../envs/dialogue-walk/rules.js';
import { unknownId } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Executor } from '../../../src/nn/executor.js';
import { openExecutor } from '../../../src/nn/open-executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { checkGradient, expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { expectNear } from '../../fixtures/tape-check.js';
import { isLong, often } from '../../fixtures/long-tests.js';
import {
  randomize,
  reachableStates,
  tinySettings,
  toyFeaturizer,
  toyShape,
  toyVocabulary,
} from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';
import { marginLoss } from '../../../agents/dialogue-walker/heads/network.js';
import { walkerSettings } from '../../../agents/dialogue-walker/settings.js';

const world = toyTwoHop();
const { graph } = world;
const states = reachableStates(world);
/** Heads by what they are called here. */
const kinds = {
  candidate: { head: 'candidate' },
  'pa-mlp': { head: 'pa-mlp' },
  'pa-mlp with trained vectors': { head: 'pa-mlp', entityInit: 'random-trainable', placeVectors: false },
  'pa-mlp over places': { head: 'pa-mlp', pathAware: false },
  'kg-cruse': { head: 'kg-cruse', recurrentUnits: 5, recurrentLayers: 2 },
  seq2path: { head: 'seq2path', recurrentUnits: 5 },
  'seq2path that writes freely': { head: 'seq2path', recurrentUnits: 5, decoder: 'free' },
  'seq2path with features': { head: 'seq2path', recurrentUnits: 4 },
  hitkg: { head: 'hitkg', transformerHeads: 2 },
  'hitkg that reads words': { head: 'hitkg', text: 'words', transformerHeads: 3, transformerLayers: 1 },
  seq2seq: { head: 'seq2seq' },
  'dialkg-walker with features': { head: 'dialkg-walker' },
  'dialkg-walker without zero-shot scores': { head: 'dialkg-walker', zeroShot: 0 },
  'tri-lstm': { head: 'tri-lstm' },
  'attn-flow': { head: 'attn-flow' },
  'attn-flow with features': { head: 'attn-flow', attentionHeads: 3 },
  'attn-io': { head: 'attn-io' },
  'attn-io with features': { head: 'attn-io', attentionHeads: 1 },
  'diff-kg': { head: 'diff-kg' },
  'diff-kg with features': { head: 'diff-kg', fanOut: 'ignored' },
  'candidate that reads words': { head: 'candidate', text: 'words' },
  'candidate that reads vectors and words': { head: 'candidate', text: 'both' },
  'seq2seq that reads words': { head: 'seq2seq', text: 'words' },
} as const;
type Kind = keyof typeof kinds;
/** Heads whose logits are normalised over the listed actions. */
const givesShares = (kind: Kind) => kind.startsWith('attn-');
const plain = await toyFeaturizer(world, { edgeFeatures: false });
const withFeatures = await toyFeaturizer(world);
const withWords = await toyFeaturizer(world, { words: true });
const featurizers = Object.fromEntries(
  (Object.keys(kinds) as Kind[]).map((kind) => [
    kind,
    /words/.test(kind) ? withWords : /candidate|features/.test(kind) ? withFeatures : plain,
  ]),
) as Record<Kind, Featurizer>;

const simd = new SimdExecutor();
const executor: Executor = simd;
const { executor: reference } = await openExecutor('wasm');
const tables = await frozenTables(graph, plain.parts.vectors, undefined, tinySettings());

let made: WalkerHead | undefined;
afterEach(() => {
  made?.dispose();
  made = undefined;
});

function shapeOf(kind: Kind, featurizer: Featurizer): HeadShape {
  return {
    ...toyShape(graph, featurizer, kind === 'pa-mlp with trained vectors' ? noTables : tables),
    numWords: /words/.test(kind) ? toyVocabulary(world).length + 1 : 0,
    maxActions: 6,
  };
}

/** A head with random weights. */
async function headOf(kind: Kind, featurizer: Featurizer = featurizers[kind], dropout = 0): Promise<WalkerHead> {
  made = createWalkerHead(executor, tinySettings({ ...kinds[kind], dropout }), shapeOf(kind, featurizer), 1);
  await randomize(made.parameters, 2);
  return made;
}

/** Kinds that have what another one has beside: at night. */
const others: readonly Kind[] = [
  ...([
    'pa-mlp over places',
    'seq2path with features',
    'attn-flow with features',
    'attn-io',
    'diff-kg with features',
  ] as const),
  ...([
    'hitkg that reads words',
    'candidate that reads words',
    'seq2seq that reads words',
    'dialkg-walker with features',
  ] as const),
];
const tried = (Object.keys(kinds) as Kind[]).filter((kind) => isLong || !others.includes(kind));

describe.each(tried)('the %s head', (kind) => {
  const featurizer = featurizers[kind];

  test('scores each legal action, and infers what it trains on, again once weights changed', async () => {
    const head = await headOf(kind);
    const batch = featurizer.batch(states);
    const logits = await head.logits(batch).read();
    expect(logits).toHaveLength(batch.tails.length);
    expect(head.rank !== undefined).toBe(/words/.test(kind));
    expect(new Set(logits).size).toBeGreaterThan(logits.length / 4);
    expectClose(await head.infer(batch), logits);
    await randomize(head.parameters, 9);
    head.weightsChanged();
    expectClose(await head.infer(batch), await head.logits(batch).read());
  });

  test('scores a state by the same bytes in any batch', async () => {
    const head = await headOf(kind);
    const many = [...states, ...states, ...states];
    const together = featurizer.batch(many);
    const logits = await head.infer(together);
    for (const s of [...states.keys(), many.length - 1]) {
      const alone = await head.infer(featurizer.batch([many[s]!]));
      expect(alone).toEqual(logits.slice(together.offsets[s], together.offsets[s + 1]));
    }
  });

  test('computes on another executor what it computes here, gradients included', async () => {
    const here = await headOf(kind, featurizer, 0.4);
    const settings = tinySettings({ ...kinds[kind], dropout: 0.4 });
    const there = createWalkerHead(reference, settings, shapeOf(kind, featurizer), 1);
    await randomize(there.parameters, 2);
    const batch = featurizer.batch(states);
    expectClose(await here.infer(batch), await there.infer(batch));
    const grad = (outputs: Float32Array) => outputs.map((_, i) => Math.cos(i));
    const gradients = async (head: WalkerHead) => {
      const outputs = () => head.logits(batch, Rng.named(3, 'test/dropout'));
      return Object.entries(await gradientsOf({ outputs, grad }, head.parameters));
    };
    const expected = new Map(await gradients(there));
    there.dispose();
    for (const [name, { data }] of await gradients(here)) expectNear(data, expected.get(name)!.data, 1e-4);
  });

  if (/words/.test(kind)) {
    test('ranks by words that it reads once a task, until weights change', async () => {
      const head = await headOf(kind);
      const batch = featurizer.batch(states);
      expectClose(await head.rank!(batch), await head.infer(batch));
      const later = featurizer.batch([...states].reverse());
      const { messages } = later.words!;
      const unread = {
        ...later,
        words: { ...later.words!, messages: { ...messages, rows: messages.rows.map(() => 0) } },
      };
      const expected = await head.infer(later);
      expect(await head.infer(unread)).not.toEqual(expected);
      expectClose(await head.rank!(unread), expected);
      await randomize(head.parameters, 9);
      head.weightsChanged();
      expectClose(await head.rank!(batch), await head.infer(batch));
    });
  }

  test('gives the same logit to an action whether the others are listed or not', async () => {
    const head = await headOf(kind);
    const full = featurizer.batch(states);
    const logits = await head.infer(full);
    if (givesShares(kind)) {
      // Then an action that stands for two counts as one that is listed twice.
      const state = states[0]!;
      const twice = await head.infer(featurizer.batch([{ ...state, actions: Int32Array.of(0, 0, 1) }]));
      const logWeights = Float32Array.of(Math.LN2, 0);
      const weighted = featurizer.batch([{ ...state, actions: Int32Array.of(0, 1), logWeights }]);
      expectClose(await head.infer(weighted), twice.subarray(1));
      return expectClose(await head.logits(weighted).read(), twice.subarray(1));
    }
    const lastOnly = states.map((state, s) => ({
      ...state,
      actions: Int32Array.of(full.offsets[s + 1]! - full.offsets[s]! - 1),
    }));
    expectClose(
      await head.infer(featurizer.batch(lastOnly)),
      states.map((_, s) => logits[full.offsets[s + 1]! - 1]!),
    );
  });

  test('lets a walk stay at a start that the graph lacks, and scores others as without it', async () => {
    const head = await headOf(kind);
    const rules = { horizon: 2, equalAtStep1: true };
    const over = new Featurizer({ ...featurizer.parts, rules });
    over.texts = featurizer.texts;
    const lost = { task: { ...states[0]!.task, start: unknownId }, state: initialState(graph, unknownId, rules) };
    const alone = over.batch([lost]);
    expect(Array.from(alone.relations)).toEqual([graph.numRelations]);
    const joint = over.batch([...states, lost]);
    const others = await head.infer(over.batch(states));
    for (const batch of [alone, joint]) {
      const trained = [undefined, Rng.named(1, 'dropout')].map((rng) => head.logits(batch, rng).read());
      const ranked = await head.rank?.(batch);
      for (const logits of [await head.infer(batch), ...(ranked ? [ranked] : []), ...(await Promise.all(trained))]) {
        expect(logits).toHaveLength(batch.tails.length);
        expect(logits.every(Number.isFinite)).toBe(true);
      }
    }
    const together = await head.infer(joint);
    expectClose(together.subarray(0, others.length), others);
    expectClose(together.subarray(others.length), await head.infer(alone));
  });

  test('has the gradients that its logits have as gradients', async () => {
    const head = await headOf(kind);
    const batch = featurizer.batch(states.slice(0, 6));
    await checkGradient(head.parameters, () => head.logits(batch));
  });

  test('starts from its seed alone', async () => {
    const weightsFrom = async (seed: number) => {
      const head = createWalkerHead(executor, tinySettings(kinds[kind]), shapeOf(kind, featurizer), seed);
      const weights = await head.parameters.export();
      head.dispose();
      return weights;
    };
    const one = await weightsFrom(1);
    expect(await weightsFrom(1)).toEqual(one);
    expect(await weightsFrom(2)).not.toEqual(one);
  });

  if (!kind.startsWith('pa-mlp')) {
    test('drops units by the generator it is given, and none without', async () => {
      const head = await headOf(kind, featurizer, 0.5);
      const batch = featurizer.batch(states);
      const dropped = (seed: number) => head.logits(batch, Rng.named(seed, 'dropout')).read();
      expect(await dropped(1)).toEqual(await dropped(1));
      expect(await dropped(1)).not.toEqual(await dropped(2));
      expectClose(await head.infer(batch), await head.logits(batch).read());
    });
  }

  test('takes no more memory after many calls', async () => {
    const head = await headOf(kind);
    const batch = featurizer.batch(states);
    const use = async () => {
      await head.infer(batch);
      await head.logits(batch, Rng.named(1, 'dropout')).read();
      head.weightsChanged();
      await head.infer(batch);
    };
    await use();
    const held = simd.arena.memory.buffer.byteLength;
    for (let i = 0; i < often(3, 9); i++) await use();
    expect(simd.arena.memory.buffer.byteLength).toBe(held);
  });
});

test('the tri-lstm head makes the facts of a batch once', async () => {
  const featurizer = featurizers['tri-lstm'];
  let read = 0;
  const tails = new Proxy(graph.tails, {
    get: (array, key) => {
      read++;
      return array[key as unknown as number];
    },
  });
  const rows = { offsets: graph.offsets, relations: graph.relations, tails };
  made = createWalkerHead(executor, tinySettings(kinds['tri-lstm']), { ...shapeOf('tri-lstm', featurizer), rows }, 1);
  const first = states[0]!;
  await made.infer(featurizer.batch([first]));
  expect(read).toBe(graph.degree(first.task.start));
});

describe('the candidate head', () => {
  test('works without edge features, with fewer weights', async () => {
    const featurizer = featurizers['pa-mlp'];
    const withFeatures = (await headOf('candidate')).parameters.names;
    made!.dispose();
    const head = await headOf('candidate', featurizer);
    expect(withFeatures.filter((name) => !head.parameters.names.includes(name))).toEqual([
      'edge.features',
      'edge.linear',
    ]);
    const batch = featurizer.batch(states.slice(0, 6));
    await checkGradient(head.parameters, () => head.logits(batch));
  });

  test('depends on each of the features of an edge', async () => {
    const head = await headOf('candidate');
    const batch = featurizers.candidate.batch(states.slice(0, 1));
    const logits = await head.infer(batch);
    const width = featurizers.candidate.numEdgeFeatures;
    for (let feature = 0; feature < width; feature++) {
      const edgeFeatures = batch.edgeFeatures.slice();
      edgeFeatures[feature]! += 1;
      const moved = await head.infer({ ...batch, edgeFeatures });
      expect(moved[0]).not.toBeCloseTo(logits[0]!, 4);
      expectClose(moved.subarray(1), logits.subarray(1));
    }
  });
});

/** The last action of each state. */
const batch = plain.batch(states);
const golds = Int32Array.from(states, (_, s) => batch.offsets[s + 1]! - 1);

test('the loss by margins is what loops over the drawn make it', async () => {
  const rng = Rng.named(1, 'test/margins');
  const [d, rows, numStates] = [3, 7, 2];
  const values = (count: number) => Float32Array.from({ length: count }, () => rng.normal());
  const [x, table] = [values(numStates * d), values(rows * d)];
  const aimed = Int32Array.of(4, 6);
  const others = Int32Array.from({ length: 20 * numStates }, () => rng.integer(rows));
  const tape = new Tape(new Parameters(executor, {}));
  const losses = await tape
    .outputs([marginLoss(tape, tape.constant(x, d), tape.constant(table, d), aimed, others)])
    .read();
  const dot = (a: Float32Array, i: number, b: Float32Array, j: number) =>
    [0, 1, 2].reduce((sum, k) => sum + a[i * d + k]! * b[j * d + k]!, 0);
  const expected = Array.from(aimed, (y, s) =>
    Array.from(others.subarray(20 * s, 20 * (s + 1))).reduce(
      (sum, other) => sum + Math.max(0, dot(table, other, table, y) + dot(x, s, table, other) - dot(x, s, table, y)),
      0,
    ),
  );
  expectClose(losses, expected, 1e-4);
});

describe.each(['seq2seq', 'dialkg-walker with features', 'dialkg-walker without zero-shot scores'] as const)(
  '%s by margins',
  (kind) => {
    test('has a loss for each state, by its draws alone', async () => {
      const head = await headOf(kind, plain);
      const losses = (seed: number) => head.marginLosses!(batch, golds, Rng.named(seed, 'test/negatives')).read();
      const one = await losses(1);
      expect(one).toHaveLength(states.length);
      expect(Math.min(...one)).toBeGreaterThanOrEqual(0);
      expect(await losses(1)).toEqual(one);
      expect(await losses(2)).not.toEqual(one);
    });

    test('has the gradients that its losses have as gradients', async () => {
      const head = await headOf(kind, plain);
      // A mean over the draws of a few states: float32 is too coarse for gradients of larger sums.
      const few = plain.batch(states.slice(0, 4));
      await checkGradient(head.parameters, () => {
        const losses = head.marginLosses!(few, golds.slice(0, 4), Rng.named(1, 'test/negatives'));
        const mean = (sums: Float32Array) => sums.map((sum) => sum / 20);
        return { read: async () => mean(await losses.read()), backward: (grad) => losses.backward(mean(grad)) };
      });
    });
  },
);

test('heads that settings let train by margins are those that have such a loss', () => {
  const heads = walkerSettings.shape.head.unwrap().options;
  for (const head of heads) {
    const network = createWalkerHead(executor, tinySettings({ head }), shapeOf('candidate', plain), 1);
    expect([head, network.marginLosses !== undefined]).toEqual([head, headsByMargins.includes(head)]);
    network.dispose();
  }
});

/** Weights with their shapes, as checkpoints hold them. */
describe('the weights of', () => {
  const tables = 'context 32x6, context.bias 6, entity 8x5, entity.bias 5, relation 16x5, relation.residual 11x5, ';
  const lstm = (name: string, inputs: number, dim: number) =>
    `${name}.input ${inputs}x${4 * dim}, ${name}.recurrent ${dim}x${4 * dim}, ${name}.bias ${4 * dim}, `;
  const norm = (name: string) => `${name}.gain 5, ${name}.bias 5, `;
  const transformerLayer = (name: string) =>
    `${norm(`${name}.norm.1`)}${['query', 'key', 'value'].map((part) => `${name}.attention.${part} 5x6, `).join('')}` +
    `${name}.attention.out 6x5, ${name}.attention.out.bias 5, ${norm(`${name}.norm.2`)}` +
    `${name}.feed.hidden 5x10, ${name}.feed.hidden.bias 10, ${name}.feed.out 10x5, ${name}.feed.out.bias 5, `;
  const reader = (name: string, inputs: number) =>
    `${lstm(`${name}.forward`, inputs, 3)}${lstm(`${name}.backward`, inputs, 3)}` +
    `${name}.attention 6x3, ${name}.attention.bias 3, ${name}.attention.out 3x1, `;
  const seq2seq = `seq2seq.context 11x6, seq2seq.context.bias 6, ${lstm('seq2seq.decoder', 5, 6)}seq2seq.out 6x5, seq2seq.out.bias 5`;
  const attention = 'outflow.text 6x5, outflow.query 5x6, outflow.key 5x6';
  const layouts: Partial<Record<Kind, string>> = {
    'kg-cruse':
      `${tables}said 6x10, said.bias 10, ${lstm('walk.1', 10, 5)}${lstm('walk.2', 5, 5)}state.1 5x6, state.1.bias 6, ` +
      'state.2 6x6, state.2.bias 6, state.3 6x10, state.3.bias 10',
    seq2path:
      `${tables}said 6x5, said.bias 5, ${lstm('decoder', 5, 5)}state.relation 5x10, state.relation.bias 10, ` +
      'state.tail 5x5, state.tail.bias 5',
    hitkg:
      `${tables}edge.tail 5x5, edge.relation 5x5, edge.relation.bias 5, token.said 6x5, token.last 16x5, token.window 16x5, ` +
      'token.start 5x5, token.edge 5x5, token.type 6x5, walk.start 5x5, walk.edge 5x5, walk.step 2x5, ' +
      ['encoder.1', 'encoder.2', 'decoder.1', 'decoder.2'].map(transformerLayer).join('') +
      `${norm('encoder.norm')}${norm('decoder.norm')}state.edge 5x5, length 5x3, length.bias 3`,
    seq2seq: `context 32x6, context.bias 6, entity 8x5, entity.bias 5, ${seq2seq}`,
    'seq2seq that reads words':
      `words.table 16x300, ${reader('words.last', 300)}${reader('words.each', 300)}${reader('words.dialogue', 6)}` +
      `words.start 8x6, words.part 6x1, words.part.bias 1, entity 8x5, entity.bias 5, ${seq2seq}`,
    'dialkg-walker without zero-shot scores':
      `${tables}dialkg.context 11x5, dialkg.context.bias 5, dialkg.mix.context 5x10, dialkg.mix.state 5x10, ` +
      'dialkg.in.state 5x1, dialkg.in.memory 5x1, dialkg.memory.input 5x5, dialkg.memory.state 5x5, ' +
      'dialkg.out.input 5x1, dialkg.out.state 5x1, dialkg.out.memory 5x1',
    'tri-lstm':
      `${tables}tri.message 6x4, tri.message.bias 4, ${lstm('tri.fact', 5, 4)}${lstm('tri.walk', 5, 4)}` +
      'tri.message-walk 4x4, tri.fact-walk 4x4',
    'attn-flow': `${tables}${attention}`,
    'attn-io': `${tables}${attention}, inflow.query 5x6, inflow.key 5x6, inflow.message 5x6, inflow.out 6x5`,
    'diff-kg': 'context 32x6, context.bias 6, hops 6x20, hops.bias 20',
  };

  test.each(Object.keys(layouts) as Kind[])('the %s head are those of earlier checkpoints', async (kind) => {
    const { parameters } = await headOf(kind, /words/.test(kind) ? withWords : plain);
    const own = parameters.names.filter((name) => !name.startsWith('features.'));
    expect(own.map((name) => `${name} ${parameters.shapeOf(name).join('x')}`).join(', ')).toBe(layouts[kind]);
  });
});

/**
 * What heads over embedded relations and tails share: the text's vector, the tables' rows of a batch, dropout, edge features,
 * and rows that are kept between inferences. A head adds its own network over them.
 *
 *   E[e] = tanh(A · frozen(e) + a)         R[r] = B · frozen(r) + residual(r)
 *   text = relu(C · context + c), or x = what a word encoder makes, or relu(C · context + D · x + c)
 */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { joined } from '../../../src/nn/categorical.js';
import type { Executor } from '../../../src/nn/executor.js';
import { normalValues, Parameters } from '../../../src/nn/parameters.js';
import { Tape, type Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import type { WalkerSettings } from '../settings.js';
import { wordEncoder } from '../words/word-encoder.js';
import { contextRows, featureRows, heldBatch, renumbering } from './batch-rows.js';
import type { HeadShape, StateBatch, WalkerHead } from './head.js';
import { allInflowRows } from './inflow.js';
import { allEntities, drawnAims, localEntities, type MakeNetwork, type Scene, Starts } from './network.js';

/** Tables that a network reads; it has no weights for the others. */
export interface Reads {
  /** Default true; else rows have no width. */
  entities?: boolean;
  /** Default true; else rows are zeros. */
  relations?: boolean;
}

/** Frozen tables on an executor. */
interface Frozen {
  entities: Taped;
  relations: Taped;
}

const none = new Int32Array(0);

/** Builds a head around a network. @param seed what the weights start from @param reads what of the tables it reads */
export function createEmbeddedHead(
  executor: Executor,
  settings: WalkerSettings,
  shape: HeadShape,
  make: MakeNetwork,
  seed = 0,
  reads: Reads = {},
): WalkerHead {
  const { tables, numEntities, numRelations } = shape;
  const starts = new Starts(seed);
  const text = textOf(settings, shape, starts);
  const embed = embeddings(settings, shape, starts, reads);
  const network = make(settings, shape, starts);
  const features = network.readsFeatures ? undefined : featureScores(settings, shape, starts);
  const parameters = new Parameters(executor, starts.values);
  const [training, tabulating, inferring] = [true, false, false].map((records) => new Tape(parameters, records)) as [
    Tape,
    Tape,
    Tape,
  ];
  const frozen: Frozen = {
    entities: { rows: numEntities, width: tables.entityDim, values: executor.hold(tables.entities) },
    relations: {
      rows: numRelations + 2,
      width: tables.relationDim,
      values: executor.hold(padRelations(tables.relations, tables.relationDim)),
    },
  };
  const { inflow, writes } = network;
  const othersOf = (batch: StateBatch) => network.others?.(batch) ?? none;
  const [localise, globally] = [localEntities(numEntities), allEntities(numEntities)];
  const renumberFlow = inflow && renumbering(numEntities);
  const renumberRelations = renumbering(numRelations + 2);
  const outputs = (scene: Scene) => {
    const logits = network.scores(scene);
    return features ? scene.tape.add(logits, features(scene.tape, scene.batch)) : logits;
  };

  type Rows = Pick<Scene, 'entities' | 'relations' | 'entityTerms' | 'relationTerms'>;
  const rowsOf = (tape: Tape, frozenEntities: Taped, frozenRelations: Taped, ids?: Int32Array): Rows => {
    const entities = embed.entities(tape, frozenEntities);
    const relations = embed.relations(tape, frozenRelations, ids);
    const entityTerms = network.prepared?.entities(tape, entities) ?? [];
    return { entities, relations, entityTerms, relationTerms: network.prepared?.relations(tape, relations) ?? [] };
  };
  const sceneOf = (
    tape: Tape,
    batch: StateBatch,
    rows: Rows & Pick<Scene, 'local'>,
    { rng, words }: { rng?: Rng | undefined; words?: Taped | undefined } = {},
  ): Scene => ({
    ...{ tape, batch, ...rows },
    text: text.states(tape, batch, words ?? text.words?.(tape, batch)),
    dropped: (x) => tape.dropout(x, settings.dropout, rng),
  });
  const trained = (batch: StateBatch, rng: Rng | undefined, others: Int32Array): Scene => {
    training.begin();
    const tape = training;
    const local = writes ? globally(batch, others) : localise(batch, others);
    if (inflow) {
      const into = inflow.edgesInto(local.ids, rng);
      const { ids, indices } = renumberFlow!(local.ids, into.heads);
      const rows = rowsOf(tape, tape.rows(frozen.entities, ids), frozen.relations);
      const entityTerms = inflow.rows(tape, rows, { ...into, heads: indices[1]! });
      return sceneOf(tape, batch, { ...rows, entityTerms, local }, { rng });
    }
    const entities = tape.rows(frozen.entities, local.ids);
    if (!network.localRelations) {
      return sceneOf(tape, batch, { ...rowsOf(tape, entities, frozen.relations), local }, { rng });
    }
    const { ids, indices } = renumberRelations(batch.lastRelation, batch.previousPathRelation, batch.relations);
    const [lastRelation, previousPathRelation, relations] = indices as [Int32Array, Int32Array, Int32Array];
    const rows = rowsOf(tape, entities, tape.rows(frozen.relations, ids), ids);
    return sceneOf(tape, { ...batch, lastRelation, previousPathRelation, relations }, { ...rows, local }, { rng });
  };

  let kept: Promise<Rows> | undefined;
  const tabulate = async (): Promise<Rows> => {
    tabulating.begin();
    const rows = rowsOf(tabulating, frozen.entities, frozen.relations);
    return inflow
      ? { ...rows, entityTerms: await allInflowRows(inflow, rows, { from: inferring, to: tabulating }) }
      : rows;
  };
  const infer = async (
    batch: StateBatch,
    words?: Float32Array,
    made: (scene: Scene) => Taped = outputs,
  ): Promise<Float32Array> => {
    const rows = await (kept ??= tabulate());
    inferring.begin();
    const local = globally(batch, othersOf(batch));
    const read = words && inferring.constant(words, settings.width);
    return inferring.outputs([made(sceneOf(inferring, batch, { ...rows, local }, { words: read }))]).read();
  };
  const held = executor.scope();
  const heard = text.words && readOnce(settings.width, inferring, text.words);
  const ranked = async (batch: StateBatch, made?: (scene: Scene) => Taped) =>
    infer(batch, await heard?.of(batch), made);

  return {
    parameters,
    logits: (batch, rng) => training.outputs([outputs(trained(batch, rng, othersOf(batch)))]),
    marginLosses:
      network.margins &&
      ((batch, golds, drawing, rng) => {
        const { entities, ...aims } = drawnAims(golds, shape, drawing);
        return training.outputs([network.margins!(trained(batch, rng, entities), aims)]);
      }),
    ...(executor.queue &&
      !text.words && {
        hold(batch) {
          held.begin();
          const pick = heldBatch(held, batch, shape);
          return (states) => {
            const some = pick(states);
            return {
              offsets: some.offsets,
              logits: () => training.outputs([outputs(trained(some, undefined, othersOf(some)))]),
            };
          };
        },
      }),
    infer: (batch) => infer(batch),
    rank: heard && ((batch) => ranked(batch)),
    writer: writes && {
      relations: (batch) => ranked(batch, (scene) => writes.relations(scene)),
      tails: (batch, pairs) => ranked(batch, (scene) => writes.tails(scene, pairs)),
    },
    weightsChanged: () => {
      kept = undefined;
      heard?.forget();
    },
    dispose: () => parameters.dispose(),
  };
}

/** Adds the initial weights of the tables' embeddings. */
function embeddings({ embeddingDim: d }: WalkerSettings, shape: HeadShape, starts: Starts, reads: Reads) {
  const { entities: readsEntities = true, relations: readsRelations = true } = reads;
  const { tables, numRelations } = shape;
  if (readsEntities) starts.add('entity', tables.entityDim, d, true);
  if (readsRelations) {
    starts.add('relation', tables.relationDim, d);
    const residual = normalValues(Rng.named(starts.seed, 'walker/residual'), 0.02, (numRelations + 2) * d);
    starts.set('relation.residual', [numRelations + 2, d], residual);
  }
  return {
    entities: (tape: Tape, rows: Taped): Taped =>
      readsEntities ? tape.layer(rows, 'entity', 'tanh') : tape.zeros(rows.rows, 0),
    /** @param ids of the rows; default all relations */
    relations: (tape: Tape, rows: Taped, ids?: Int32Array): Taped => {
      if (!readsRelations) return tape.zeros(rows.rows, d);
      const residual = tape.parameter('relation.residual');
      return tape.add(tape.times(rows, 'relation'), ids ? tape.rows(residual, ids) : residual);
    },
  };
}

/** float32 [dialogues, width]: words of dialogues, read once a task until they are forgotten. */
function readOnce(width: number, tape: Tape, words: (tape: Tape, batch: StateBatch) => Taped) {
  let heard = new WeakMap<WalkTask, Float32Array>();
  return {
    async of(batch: StateBatch): Promise<Float32Array> {
      const { tasks } = batch.words!;
      const known = heard;
      if (!tasks.every((task) => known.has(task))) {
        tape.begin();
        const read = await tape.outputs([words(tape, batch)]).read();
        tasks.forEach((task, i) => known.set(task, read.slice(i * width, (i + 1) * width)));
      }
      return joined(tasks.map((task) => known.get(task)!));
    },
    forget: () => (heard = new WeakMap()),
  };
}

interface Said {
  /** Encoding of its words: [dialogues, width]; absent where none are read. */
  words?: ((tape: Tape, batch: StateBatch) => Taped) | undefined;
  /** [S, width] @param words what `words` makes of the batch */
  states: (tape: Tape, batch: StateBatch, words?: Taped) => Taped;
}

function textOf({ text, width }: WalkerSettings, shape: HeadShape, starts: Starts): Said {
  const { contextDim, numWords, tables } = shape;
  const frozen = text !== 'words';
  if (frozen) starts.add('context', contextDim, width, true);
  const words = text === 'frozen' ? undefined : wordEncoder(starts, { numWords, tables, width });
  if (frozen && words) starts.add('context.words', width, width);
  return {
    words,
    states(tape, batch, byDialogue) {
      const said = byDialogue && tape.rows(byDialogue, batch.words!.dialogueOf);
      if (!frozen) return said!;
      const [context, rowOf] = contextRows(tape, batch, contextDim);
      if (!said) return tape.rows(tape.layer(context, 'context', 'relu'), rowOf);
      const byVectors = tape.rows(tape.layer(context, 'context'), rowOf);
      return tape.relu(tape.add(byVectors, tape.times(said, 'context.words')));
    },
  };
}

/** Term of edge features in each logit: w · relu(W f + b) + v · f. Absent where none are read. */
function featureScores({ hidden }: WalkerSettings, { numEdgeFeatures }: HeadShape, starts: Starts) {
  if (numEdgeFeatures === 0) return undefined;
  starts.add('features.hidden', numEdgeFeatures, hidden, true);
  starts.add('features.out', hidden, 1);
  starts.set('features.linear', [numEdgeFeatures, 1], new Float32Array(numEdgeFeatures));
  return (tape: Tape, batch: StateBatch) => {
    const features = featureRows(tape, batch, numEdgeFeatures);
    const byLayer = tape.times(tape.layer(features, 'features.hidden', 'relu'), 'features.out');
    return tape.add(byLayer, tape.times(features, 'features.linear'));
  };
}

/** Adds zero rows for Equal and for "none yet": what they mean is learned by the residual alone. */
function padRelations(relations: Float32Array, dim: number): Float32Array {
  const padded = new Float32Array(relations.length + 2 * dim);
  padded.set(relations);
  return padded;
}

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
import {
  allEntities,
  drawnAims,
  type EmbeddedNetwork,
  localEntities,
  type MakeNetwork,
  type Scene,
  Starts,
} from './network.js';

/** Tables that a network reads; it has no weights for the others. */
export interface Reads {
  /** Default true; else rows have no width. */
  entities?: boolean;
  /** Default true; else rows are zeros. */
  relations?: boolean;
}

/** Frozen tables on an executor. */
type Frozen = { entities: Taped; relations: Taped };

const none = new Int32Array(0);

/** Parts that scenes of a head are made of. */
interface Parts {
  settings: WalkerSettings;
  shape: HeadShape;
  network: EmbeddedNetwork;
  text: Said;
  embed: ReturnType<typeof embeddings>;
  frozen: Frozen;
}

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
  const training = new Tape(parameters);
  const frozen: Frozen = {
    entities: { rows: numEntities, width: tables.entityDim, values: executor.hold(tables.entities) },
    relations: {
      rows: numRelations + 2,
      width: tables.relationDim,
      values: executor.hold(padRelations(tables.relations, tables.relationDim)),
    },
  };
  const { writes } = network;
  const othersOf = (batch: StateBatch) => network.others?.(batch) ?? none;
  const scoresOf = (scene: Scene) => {
    const logits = network.scores(scene);
    return features ? scene.tape.add(logits, features(scene.tape, scene.batch)) : logits;
  };
  const parts: Parts = { settings, shape, network, text, embed, frozen };
  const trained = trainingScenes(training, parts);
  const logits = (batch: StateBatch, rng?: Rng) => training.outputs([scoresOf(trained(batch, rng, othersOf(batch)))]);
  const { infer, ranked, forget } = inference(parameters, parts, othersOf, scoresOf);
  const held = executor.scope();
  return {
    parameters,
    logits,
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
            return { offsets: some.offsets, logits: () => logits(some) };
          };
        },
      }),
    infer: (batch) => infer(batch),
    rank: text.words && ((batch) => ranked(batch)),
    writer: writes && {
      relations: (batch) => ranked(batch, (scene) => writes.relations(scene)),
      tails: (batch, pairs) => ranked(batch, (scene) => writes.tails(scene, pairs)),
    },
    weightsChanged: forget,
    dispose: () => parameters.dispose(),
  };
}

type TableRows = Pick<Scene, 'entities' | 'relations' | 'entityTerms' | 'relationTerms'>;

/** Embedded rows of the tables. @param ids of the relations' rows; default all */
function tableRows(
  { network, embed }: Parts,
  tape: Tape,
  { entities, relations }: Frozen,
  ids?: Int32Array,
): TableRows {
  const [ofEntities, ofRelations] = [embed.entities(tape, entities), embed.relations(tape, relations, ids)];
  return {
    ...{ entities: ofEntities, relations: ofRelations },
    entityTerms: network.prepared?.entities(tape, ofEntities) ?? [],
    relationTerms: network.prepared?.relations(tape, ofRelations) ?? [],
  };
}

const sceneOf = (
  { text, settings }: Parts,
  tape: Tape,
  batch: StateBatch,
  rows: TableRows & Pick<Scene, 'local'>,
  { rng, words }: { rng?: Rng | undefined; words?: Taped | undefined } = {},
): Scene => ({
  ...{ tape, batch, ...rows },
  text: text.states(tape, batch, words ?? text.words?.(tape, batch)),
  dropped: (x) => tape.dropout(x, settings.dropout, rng),
});

/** Scenes with the rows that a batch reads alone. */
function trainingScenes(tape: Tape, parts: Parts) {
  const { network, frozen } = parts;
  const { numEntities, numRelations } = parts.shape;
  const { inflow } = network;
  const localise = network.writes ? allEntities(numEntities) : localEntities(numEntities);
  const renumberFlow = inflow && renumbering(numEntities);
  const renumberRelations = renumbering(numRelations + 2);
  return (batch: StateBatch, rng: Rng | undefined, others: Int32Array): Scene => {
    tape.begin();
    const local = localise(batch, others);
    if (inflow) {
      const into = inflow.edgesInto(local.ids, rng);
      const { ids, indices } = renumberFlow!(local.ids, into.heads);
      const rows = tableRows(parts, tape, { ...frozen, entities: tape.rows(frozen.entities, ids) });
      const entityTerms = inflow.rows(tape, rows, { ...into, heads: indices[1]! });
      return sceneOf(parts, tape, batch, { ...rows, entityTerms, local }, { rng });
    }
    const entities = tape.rows(frozen.entities, local.ids);
    if (!network.localRelations) {
      return sceneOf(parts, tape, batch, { ...tableRows(parts, tape, { ...frozen, entities }), local }, { rng });
    }
    const { ids, indices } = renumberRelations(batch.lastRelation, batch.previousPathRelation, batch.relations);
    const [lastRelation, previousPathRelation, relations] = indices as [Int32Array, Int32Array, Int32Array];
    const rows = tableRows(parts, tape, { entities, relations: tape.rows(frozen.relations, ids) }, ids);
    const renumbered = { ...batch, lastRelation, previousPathRelation, relations };
    return sceneOf(parts, tape, renumbered, { ...rows, local }, { rng });
  };
}

/** Scores without gradients, over rows of the whole tables and words that are kept until weights change. */
function inference(
  parameters: Parameters,
  parts: Parts,
  othersOf: (batch: StateBatch) => Int32Array,
  scoresOf: (scene: Scene) => Taped,
) {
  const { network, frozen, text, settings, shape } = parts;
  const { inflow } = network;
  const [tabulating, inferring] = [new Tape(parameters, false), new Tape(parameters, false)];
  const globally = allEntities(shape.numEntities);
  const heard = text.words && readOnce(settings.width, inferring, text.words);
  let kept: Promise<TableRows> | undefined;
  const tabulate = async (): Promise<TableRows> => {
    tabulating.begin();
    const rows = tableRows(parts, tabulating, frozen);
    return inflow
      ? { ...rows, entityTerms: await allInflowRows(inflow, rows, { from: inferring, to: tabulating }) }
      : rows;
  };
  const infer = async (batch: StateBatch, words?: Float32Array, made = scoresOf): Promise<Float32Array> => {
    const rows = await (kept ??= tabulate());
    inferring.begin();
    const local = globally(batch, othersOf(batch));
    const read = words && inferring.constant(words, settings.width);
    const scene = sceneOf(parts, inferring, batch, { ...rows, local }, { words: read });
    return inferring.outputs([made(scene)]).read();
  };
  return {
    infer,
    ranked: async (batch: StateBatch, made?: (scene: Scene) => Taped) => infer(batch, await heard?.of(batch), made),
    forget() {
      kept = undefined;
      heard?.forget();
    },
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

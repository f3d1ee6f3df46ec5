/** Training of a walker on link queries: pretrained scorers, cloning of shortest paths, policy gradients, and the best on valid. */
import type { WalkFinder } from '../../agents/exact-walker/exact-walker.js';
import { loadExactWalker } from '../../agents/exact-walker/registry.js';
import { createLinkCritic, createLinkWalker } from '../../agents/link-walker/link-walker.js';
import { walkRanker } from '../../agents/link-agents.js';
import type { LinkActor } from '../../agents/link-walker/request.js';
import { writeStartVectors } from '../../agents/link-walker/vectors.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { linkQueryId, type LinkQueryOptions, linkQueryWorld } from '../../envs/link-query/world.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import { printable } from '../../src/run/printable.js';
import { AdamW } from '../../src/nn/adamw.js';
import { clonePhase } from '../../trainers/clone.js';
import { demonstrationsOf, shownDemonstrations } from '../../trainers/demonstrations.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import { wholeWalks } from '../../trainers/rollout.js';
import type { Session } from '../../trainers/session.js';
import type { TaskTrainer, TrainingRun } from '../../trainers/task-trainer.js';
import { type TrainSettings, walksPerStep } from '../../trainers/train-settings.js';
import { datasetOf, findRun, weightsOf } from '../named-runs.js';
import { exactProblems, exactTrainingRun } from './exact.js';
import { rankOnValid } from './ranks.js';
import { openScorers, linkProblems, type LinkTrainingData, openLinkTrainingData } from './training-data.js';

/** Training on link queries: pretrained scorers, cloning of shortest paths, policy gradients. */
export const linkTrainer: TaskTrainer = {
  forkPhase: 'clone',
  takes: ['exactWalker'],
  problems(settings) {
    const { exactWalker } = settings;
    return [...linkProblems(settings), ...(exactWalker ? exactProblems(settings, exactWalker) : [])];
  },
  networkSize({ clone, ppo, linkWalk, linkWalker, exactWalker }) {
    if (exactWalker) return { rows: 1, inputs: 1, units: 1, simdAlone: true };
    const { vectorDim, pathDim, width } = linkWalker;
    const states = walksPerStep({ clone, ppo });
    const inputs = pathDim + 2 * vectorDim;
    return { rows: states * linkWalk.horizon, inputs, units: width };
  },
  open: openLinkTraining,
};

/** @throws WorkbenchError `data` for a data set that is not there or holds something else */
async function openLinkTraining(settings: TrainSettings): Promise<TrainingRun> {
  const data = await openLinkTrainingData(settings);
  if (settings.exactWalker) return exactTrainingRun({ ...settings, exactWalker: settings.exactWalker }, data);
  const { graph, manifest } = data.dataset;
  const teacher = await openTeacher(settings, data);
  return {
    readsTexts: false,
    hashes: { graph: graph.hash, dataset: linksHash(manifest), ...(teacher && { teacher: teacher.hash }) },
    notes: data.notes,
    async phases(session) {
      const { clone, ppo } = settings;
      const scorers = await openScorers(session, data);
      if (scorers.start && !settings.linkWalker.trainVectors) writeStartVectors(session.run.folder, scorers.start);
      const links = { ...session, data, scorers, find: teacher?.find };
      return {
        phases: [
          ...(clone.enabled ? [{ name: 'clone' as const, open: () => linkClone(links) }] : []),
          ...(ppo.enabled ? [{ name: 'ppo' as const, open: () => linkPpo(links) }] : []),
        ],
      };
    },
  };
}

/** A run whose walks are cloned. @throws WorkbenchError `data` where there is none, `usage` for one whose walks have no chances */
async function openTeacher(
  { clone, demonstrations: { teacher } }: TrainSettings,
  { dataset, hidePairs }: LinkTrainingData,
): Promise<{ find: WalkFinder; hash: string } | undefined> {
  if (!clone.enabled || teacher === null) return undefined;
  const refused = (code: 'data' | 'usage', got: string) =>
    new WorkbenchError(
      code,
      `expected a run of an exact walker over chains of ${dataset.manifest.name}, got ${got}, at demonstrations.teacher`,
      { hint: 'Train one: kgwalk train link-chains --set data.dataset=NAME.' },
    );
  const found = findRun(teacher);
  if (!found) throw refused('data', `none, ${printable(teacher, 80)}`);
  const trained = { checkpoint: 'best', ...found };
  if (found.run.config.exactWalker === undefined || datasetOf(found.run) !== dataset.manifest.name) {
    throw refused('usage', `another run, ${found.run.id}`);
  }
  const { walker } = await loadExactWalker(found.run.folder, found.run.id, trained.checkpoint, dataset);
  if (!walker.walks) throw refused('usage', `one that walks, ${found.run.id}`);
  return { find: walker.walks(hidePairs), hash: await weightsOf(trained) };
}

/** Valid queries whose walks give the loss after an epoch. */
const validQueries = 500;

/** @throws WorkbenchError `data` where no answer of train is within the horizon */
function linkClone(session: LinkSession): TrainingPhase {
  const { settings, data } = session;
  const { weightDecay, maxGradNorm, batchSize } = settings.clone;
  const { horizon } = settings.linkWalk;
  const { graph } = data.dataset;
  const [train, valid] = [trainWalks(session), { graph, queries: data.watched, horizon }].map(linkQueryWorld);
  madeFrom('training', 'cloning', { graph: graph.hash, split: 'train', queries: data.queries.heads.length });
  const shown = demonstrationsOf(train!, settings.demonstrations, settings.seed, 'demonstrations', session.find);
  if (shown.queries.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected answers within ${horizon} steps of their heads to clone walks to, got none among ${shown.asked} queries of train`,
      { hint: 'Raise linkWalk.horizon, or train without a clone: clone.enabled=false.' },
    );
  }
  const checked = demonstrationsOf(valid!, { paths: 1, queries: validQueries }, 0, 'demonstrations/valid');
  const actor = walkerOf(session);
  const optimizer = new AdamW(actor.parameters, { weightDecay, maxGradNorm });
  const walks = {
    train: shownDemonstrations(train!, shown, actor, batchSize),
    valid: shownDemonstrations(valid!, checked, actor, batchSize),
  };
  return clonePhase(
    { ...walks, actor, optimizer, settings: settings.clone, seed: settings.seed },
    {
      start: session.start,
      // Of many shortest paths that lead to an answer the loss wants each, ranks any: on UMLS the loss is lowest after two epochs,
      // while the ranks get better for six.
      lossName: 'eval/path_loss',
      evaluate: () => evaluateOnValid(session, actor),
      close() {
        optimizer.dispose();
        actor.dispose();
      },
    },
  );
}

interface LinkSession extends Session {
  data: LinkTrainingData;
  scorers: Awaited<ReturnType<typeof openScorers>>;
  /** Finds the walks that are cloned; default: shortest paths. */
  find: WalkFinder | undefined;
}

/** A walker with the weights that a run of these settings begins with; the caller disposes it. */
function walkerOf({ executor, settings, data, scorers }: LinkSession): LinkActor {
  const { graph: lists } = data.dataset;
  const { numEntities, numRelations } = lists;
  const shape = { lists, numEntities, numRelations, start: scorers.start };
  return createLinkWalker(executor, settings.linkWalker, shape, settings.seed);
}

/** Train's queries as walks. */
function trainWalks({ settings, data }: LinkSession): LinkQueryOptions {
  const { dataset, queries, hidePairs } = data;
  const { horizon } = settings.linkWalk;
  return { graph: dataset.graph, queries, horizon, hidePairs, known: dataset.trainKnown };
}

/** Starts from the clone or from scratch. */
function linkPpo(session: LinkSession): TrainingPhase {
  const { executor, settings, data, scorers } = session;
  const { ppo, seed } = settings;
  const { graph } = data.dataset;
  const { numEntities, numRelations } = graph;
  const start = firstWeights(session);
  const actor = walkerOf(session);
  const referencePolicy = start && ppo.klCoef > 0 ? walkerOf(session) : undefined;
  referencePolicy?.parameters.import(start!.tensors);
  const shape = { numEntities, numRelations, start: scorers.start };
  const critic = ppo.baseline === 'critic' ? createLinkCritic(executor, settings.linkWalker, shape, seed) : undefined;
  const { networks, close } = openActorCritic(actor, critic, ppo);
  const world = { ...trainWalks(session), shaping: scorers.shaping };
  const envs = makeVectorEnv(linkQueryId, world, ppo.samplesPerUpdate * ppo.explorations);
  const walkable = Int32Array.from(data.queries.heads.keys());
  madeFrom('training', 'policy gradient', { graph: graph.hash, split: 'train', queries: walkable.length });
  return ppoPhase(session, {
    trainer: new PpoTrainer({ ...networks, settings: ppo, seed, referencePolicy, collect: wholeWalks(envs, walkable) }),
    ...{ trainState: networks, settings: ppo, start },
    evaluate: () => evaluateOnValid(session, actor),
    close() {
      envs.close();
      referencePolicy?.dispose();
      close();
    },
  });
}

function evaluateOnValid(session: LinkSession, actor: LinkActor): Promise<Record<string, number>> {
  const { data, settings } = session;
  const { beamWidth } = settings.evaluation;
  const ranker = walkRanker(actor, data.dataset.graph, { beamWidth, horizon: settings.linkWalk.horizon });
  return rankOnValid(session, data, ranker, data.watched);
}

/** Training of the walker of link queries: pretrained scorers, cloning of shortest paths, policy gradients, and the best on valid. */
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { linkQueryId, type LinkQueryOptions, linkQueryWorld, type LinkShaping } from '../../envs/link-query/world.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { calibratedProbability } from '../../src/embedding/calibrated-probability.js';
import type { LinkScorer } from '../../src/embedding/scorers.js';
import { AdamW } from '../../src/nn/adamw.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { printable } from '../../src/run/printable.js';
import { madeFrom } from '../../src/run/provenance.js';
import { findRun } from '../../src/run/run-folder.js';
import { clonePhase } from '../../trainers/clone.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { walksPerStep } from '../../trainers/run-settings.js';
import type { Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import { type LinkScorerSection, type OpenedScorer, openLinkScorer } from '../embeddings/link-scorers.js';
import { loadExactWalker } from '../exact-walker/agent.js';
import type { WalkFinder } from '../exact-walker/exact-walker.js';
import { walkRanker } from '../link-ranker.js';
import { rankOnValid } from '../link-ranks.js';
import { type LinkMethod, linkProblems, type LinkTraining } from '../link-training.js';
import type { TrainSettings } from '../train-settings.js';
import { loadPathWalkers } from './agent.js';
import { demonstrationsOf, shownDemonstrations } from './demonstrations.js';
import { createLinkCritic, createLinkWalker } from './network.js';
import type { LinkActor } from './request.js';
import { type StartVectors, writeStartVectors } from './vectors.js';

/** Walker of link queries over states of relation, entity and path vectors. */
export const pathWalker: LinkMethod = {
  options: ['beamWidth', 'backend'],
  forkPhase: () => 'clone',
  meaning: ({ linkWalk: { horizon }, linkWalker, transe, bilinear, seed }: TrainSettings) => ({
    linkWalk: { horizon },
    linkWalker,
    ...(linkWalker.vectors === 'transe' && { transe, seed }),
    ...(linkWalker.vectors === 'bilinear' && { bilinear, seed }),
  }),
  problems,
  networkSize({ clone, ppo, linkWalk, linkWalker }: TrainSettings) {
    const { vectorDim, pathDim, width } = linkWalker;
    const states = walksPerStep({ clone, ppo });
    const inputs = pathDim + 2 * vectorDim;
    return { rows: states * linkWalk.horizon, inputs, units: width };
  },
  open: openRun,
  load: loadPathWalkers,
};

async function openRun(settings: TrainSettings, data: LinkTraining): Promise<TrainingRun> {
  const { graph, manifest } = data.dataset;
  const teacher = await openTeacher(settings, data);
  return {
    readsTexts: false,
    hashes: { graph: graph.hash, dataset: linksHash(manifest), ...(teacher && { teacher: teacher.hash }) },
    notes: data.notes,
    async phases(shared) {
      const session = { ...shared, settings };
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
  { dataset, hidePairs }: LinkTraining,
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
  if (
    found.run.config.exactWalker === undefined ||
    (found.run.config.data as { dataset?: string }).dataset !== dataset.manifest.name
  ) {
    throw refused('usage', `another run, ${found.run.id}`);
  }
  const { run, checkpoint = 'best' } = found;
  const { walker } = await loadExactWalker({ folder: run.folder, checkpoint }, { dataset });
  if (!walker.walks) throw refused('usage', `one that walks, ${found.run.id}`);
  return { find: walker.walks(hidePairs), hash: await sha256File(resolveCheckpoint(run.folder, checkpoint).file) };
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

interface LinkSession extends Session<TrainSettings> {
  data: LinkTraining;
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

/** Trains or reuses what the settings ask for, once each. @throws WorkbenchError `stopped` after saving */
async function openScorers({ run, logs, settings, ...options }: Session<TrainSettings>, { dataset }: LinkTraining) {
  const { linkWalk, linkWalker } = settings;
  const opened = new Map<LinkScorerSection, OpenedScorer>();
  const open = async (name: LinkScorerSection) => {
    const known = opened.get(name);
    if (known) return known;
    run.update({ phase: name });
    const scorer = await openLinkScorer(name, dataset, settings, options);
    logs.timing(name, 1, { 'time/reused': Number(scorer.reused) });
    opened.set(name, scorer);
    return scorer;
  };
  const start: StartVectors | undefined =
    linkWalker.vectors === 'random' ? undefined : (await open(linkWalker.vectors)).table;
  if (linkWalk.shaping === 'none') return { start, shaping: undefined };
  const { scorer } = await open(linkWalk.shapingScorer);
  return { start, shaping: shapingOf(linkWalk.shaping, scorer, dataset, settings) };
}

/** Shaping reward, by the probability that a scorer gives. */
export function shapingOf(
  kind: LinkShaping['kind'],
  scorer: LinkScorer,
  { graph, valid, trainKnown }: LinkTraining['dataset'],
  { linkWalk, ppo, seed }: Pick<TrainSettings, 'linkWalk' | 'ppo' | 'seed'>,
): LinkShaping {
  // Fitted on valid, which chooses everything else as well; on train the scorer is surer than it may be.
  const triples = valid.heads.length;
  madeFrom('normaliser', 'probability of triples', { graph: graph.hash, split: 'valid', triples });
  const probability = calibratedProbability(scorer, valid, trainKnown, seed);
  return { kind, weight: linkWalk.shapingWeight, gamma: ppo.gamma, probability };
}

/** Settings that do not fit walks over link queries, one line each. */
function problems(settings: TrainSettings): (string | false)[] {
  const { env, transe, bilinear, linkWalk, linkWalker } = settings;
  const enabled = { transe: transe.enabled, bilinear: bilinear.enabled };
  const sections = [
    ['linkWalker.vectors', linkWalker.vectors],
    ['linkWalk.shapingScorer', linkWalk.shaping === 'none' ? 'random' : linkWalk.shapingScorer],
  ] as const;
  return [
    ...linkProblems(settings),
    ...sections.map(
      ([key, section]) =>
        section !== 'random' &&
        !enabled[section] &&
        `expected ${section}.enabled=true, which ${key} reads, with env.id=${env.id}, got false`,
    ),
    !linkWalker.trainVectors &&
      linkWalker.vectors === 'random' &&
      `expected linkWalker.vectors=transe or bilinear with linkWalker.trainVectors=false, which leaves vectors as they start, with env.id=${env.id}, got random`,
  ];
}

/** Cloning of shortest paths: the warm start of a walker of link queries. */
import { actionLogProbs, runsOf, type Actor, type StateScorer, type TaskRequest } from '../../agents/actor.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import type { LinkQueryObservation, LinkQueryWorld } from '../../envs/link-query-world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { explainedLater, finiteLoss, lossOrNot } from '../../src/tensor/diverged.js';
import type { Optimizer } from '../../src/tensor/trainable.js';
import { clonePhase } from '../cloning/clone-phase.js';
import { cloneEpochs, type CloneCourse } from '../cloning/epochs.js';
import { cloningLoss } from '../cloning/objective.js';
import type { Session } from '../session.js';
import { DemonstrationReplay, type DemonstratedStates } from './demonstrated-states.js';
import { demonstrationsOf, type Demonstrations } from './demonstrations.js';

/** What learns. */
export interface CloneLearner<Request> {
  /** Scores legal actions alone. */
  actor: Actor<LinkQueryObservation, Request>;
  optimizer: Optimizer;
}

/** What learns from which walks. */
export interface LinkCloneOptions<Request> extends CloneCourse, CloneLearner<Request> {
  train: { world: LinkQueryWorld; demonstrations: Demonstrations };
  /** Its walks tell the loss after an epoch; there may be none. */
  valid: { world: LinkQueryWorld; demonstrations: Demonstrations };
}

/** What a run brings to the phase. */
export interface LinkClonePhase<Request> extends CloneLearner<Request> {
  /** The queries that are shown. */
  train: LinkQueryWorld;
  valid: LinkQueryWorld;
  /** Figures on valid after every epoch, by `eval/…`. */
  evaluate: () => Promise<Record<string, number>>;
  /** A checkpoint of this phase to go on from. */
  from: Checkpoint | undefined;
}

/** Queries of valid whose walks tell the loss after an epoch. */
const validQueries = 500;

/**
 * The `clone` phase of a run: shows shortest paths, evaluates and saves every epoch.
 * @throws WorkbenchError `data` where no answer of train is within the horizon; `stopped` after saving
 */
export async function cloneLinks<Request extends TaskRequest>(
  session: Session,
  { actor, optimizer, train, valid, evaluate, from }: LinkClonePhase<Request>,
): Promise<void> {
  const { seed, demonstrations } = session.settings;
  const shown = demonstrationsOf(train, demonstrations, seed, 'demonstrations');
  if (shown.queries.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected answers within ${train.horizon} steps of their heads to clone walks to, got none among ${shown.asked} queries of train`,
      { hint: 'Raise linkWalk.horizon, or train without a clone: clone.enabled=false.' },
    );
  }
  const checked = demonstrationsOf(valid, { paths: 1, queries: validQueries }, 0, 'demonstrations/valid');
  await clonePhase(session, {
    trainee: { actor, optimizer },
    // Of many shortest paths that lead to an answer the loss wants each, ranks any: on UMLS the loss is lowest after two epochs,
    // while the ranks get better for six.
    lossName: 'eval/path_loss',
    evaluate,
    from,
    clone: (course) =>
      cloneDemonstrations({
        ...course,
        actor,
        optimizer,
        train: { world: train, demonstrations: shown },
        valid: { world: valid, demonstrations: checked },
      }),
  });
}

/** As `cloneEpochs`, over demonstrated walks of link queries; all actions of a hub take part in every loss. */
export async function cloneDemonstrations<Request extends TaskRequest>(
  options: LinkCloneOptions<Request>,
): Promise<void> {
  const { actor, train, valid } = options;
  const shown = new DemonstrationReplay(train.world, train.demonstrations, actor);
  const checked = new DemonstrationReplay(valid.world, valid.demonstrations, actor);
  const places = Int32Array.from({ length: valid.demonstrations.queries.length }, (_, place) => place);
  await cloneEpochs(options, {
    count: train.demonstrations.queries.length,
    update: (chosen, step, learningRate) =>
      update(options, { ...shown.states(chosen), walks: chosen.length }, step, learningRate),
    validLoss: async () => {
      let total = 0;
      for (let begin = 0; begin < places.length; begin += options.settings.batchSize) {
        total += await negativeLogProb(
          actor,
          checked.states(places.subarray(begin, begin + options.settings.batchSize)),
        );
      }
      return total / Math.max(1, places.length);
    },
  });
}

async function update<Request extends TaskRequest>(
  { actor, optimizer }: CloneLearner<Request>,
  { requests, golds, walks }: DemonstratedStates<Request> & { walks: number },
  step: number,
  learningRate: number,
): Promise<{ loss: number; gradNorm: number }> {
  const ones = new Uint8Array(requests.length).fill(1);
  let total = 0;
  const gradNorm = await explainedLater(
    async () => ({ place: { step: step + 1 }, samples: await lossesByTask(actor, { requests, golds }) }),
    () =>
      optimizer.step(async (record) => {
        for (const [begin, end] of runsOf(requests.map(actor.numScores), actor.scoresAtOnce)) {
          const { offsets, logits } = actor.score(requests.slice(begin, end));
          const scores = await record(logits);
          const loss = cloningLoss(scores.values, { offsets }, golds.slice(begin, end), ones, walks);
          total += finiteLoss(loss.total);
          scores.back(loss.gradient);
        }
      }, learningRate),
  );
  actor.weightsChanged();
  return { loss: total / walks, gradNorm };
}

/** Σ over states of −log π(what is done), nats. */
async function negativeLogProb<Request>(
  actor: StateScorer<Request>,
  { requests, golds }: DemonstratedStates<Request>,
): Promise<number> {
  const { logProbs, offsets } = await actionLogProbs(actor, requests);
  return golds.reduce((sum, { gold }, state) => sum - logProbs[offsets[state]! + gold]!, 0);
}

/** What the states of each query cost: asked for where the batch as a whole is not finite. */
async function lossesByTask<Request extends TaskRequest>(
  actor: StateScorer<Request>,
  { requests, golds }: DemonstratedStates<Request>,
): Promise<{ id: string; loss: number }[]> {
  const sums = new Map<string, number>();
  for (const [state, request] of requests.entries()) {
    const { offsets, logits } = actor.score([request]);
    const scores = await actor.parameters.read(logits);
    const loss = lossOrNot(() => cloningLoss(scores, { offsets }, [golds[state]!], [1], 1).total);
    sums.set(request.task.id, (sums.get(request.task.id) ?? 0) + loss);
  }
  return Array.from(sums, ([id, loss]) => ({ id, loss }));
}

/** PPO's learning from a round on a device: minibatches are queued without waiting, their figures read once. */
import { pickRequests, type ScoredActions } from './actor.js';
import type { AdamW } from '../src/nn/adamw.js';
import { Diverged } from '../src/nn/diverged.js';
import { type Numbers, objectiveFigures, type Queue, type Rows, type Scope } from '../src/nn/executor.js';
import type { Outputs } from '../src/nn/tape.js';
import { type Transitions, withLoss } from './ppo-loss.js';
import {
  gatherSegments,
  type ActorCritic,
  type MinibatchPart,
  type PartResult,
  partsOf,
  type StepBatch,
  stepResult,
  type StepResult,
} from './ppo-step.js';
import type { PpoSettings } from './ppo-settings.js';
import type { Rollout } from './rollout-buffer.js';

/** Figures of a minibatch that is queued. */
interface Queued {
  parts: { share: number; figures: Numbers }[];
  /** [1] each: the gradient's norm, of the critic, too, if there is one. */
  norms: Numbers[];
}

/** Steps of one round. Its figures come with `results`. */
export class QueuedSteps<Observation, Request> {
  readonly #queue: Queue<Numbers, Rows>;
  readonly #scope: Scope<Numbers, Rows>;
  readonly #stopped: Numbers;
  readonly #queued: Queued[] = [];
  readonly #optimizers: AdamW[];
  readonly #score: (states: Int32Array) => ScoredActions;
  readonly #values: ((states: Int32Array) => () => Outputs) | undefined;

  constructor(
    readonly networks: ActorCritic<Observation, Request>,
    readonly settings: PpoSettings,
    round: Pick<Rollout<Request>, 'states'>,
  ) {
    const { actor, optimizer, critic } = networks;
    const { states } = round;
    this.#score = actor.hold?.(states) ?? ((chosen) => actor.score(pickRequests(states, chosen)));
    const network = critic?.network;
    this.#values = network && (network.hold?.(states) ?? ((chosen) => network.values(pickRequests(states, chosen))));
    const { executor } = optimizer.parameters;
    this.#queue = executor.queue!;
    this.#scope = this.#queue.scope;
    this.#scope.begin();
    this.#optimizers = [optimizer, ...(critic ? [critic.optimizer] : [])];
    for (const { parameters } of this.#optimizers) executor.fill(parameters.gradients.whole, 0);
    this.#stopped = this.#scope.zeros(1);
  }

  /** Queues one step. */
  add(batch: StepBatch<Request>, learningRate: number): void {
    const norms = this.#optimizers.map(() => this.#scope.take(1));
    const { actor } = this.networks;
    const parts: Queued['parts'] = [];
    for (const part of partsOf(actor, batch)) {
      const figures = this.#scope.take(part.states.length * objectiveFigures.length);
      this.#objective(batch, part, figures);
      parts.push({ share: part.share, figures });
    }
    this.#optimizers.forEach((optimizer, i) => optimizer.queueStep(learningRate, norms[i]!, this.#stopped));
    actor.weightsChanged();
    this.#queued.push({ parts, norms });
    this.#queue.keeps = true;
  }

  #objective({ reference }: StepBatch<Request>, { states, transitions, share }: MinibatchPart, figures: Numbers): void {
    const scope = this.#scope;
    const values = this.#values?.(states)().taped;
    const { offsets, masked, logits } = this.#score(states);
    const scores = logits().taped!;
    const [scored, valued] = [scores.parts[0]!, values?.parts[0]];
    const { firsts, action, oldLogProb, advantage, returns, oldValue } = byState(transitions, states.length);
    this.#queue.ppoObjective({
      ...{ states: states.length, logits: scored.values, dLogits: scored.grads!, share, figures },
      ...{ values: valued?.values, dValues: valued?.grads, settings: this.settings },
      ...{ offsets: scope.rows(offsets), legal: masked && scope.rows(masked.legal) },
      scored: masked && scope.rows(masked.scoredOffsets),
      reference: reference && scope.copy(gatherSegments(reference, states)),
      ...{ firsts: scope.rows(firsts), action: scope.rows(action), oldLogProb: scope.copy(oldLogProb) },
      ...{ advantage: scope.copy(advantage), returns: scope.copy(returns), oldValue: scope.copy(oldValue) },
    });
    scores.backward();
    values?.backward();
  }

  /** Begins to compute what is queued; the next step takes its memory. */
  submit(): void {
    this.#queue.submit();
    this.#queue.keeps = false;
  }

  /** Waits for all steps. @throws Diverged for numbers that are not finite: the networks are those before the step */
  async results(): Promise<StepResult[]> {
    const { executor } = this.networks.optimizer.parameters;
    const read = (numbers: Numbers) => executor.read(numbers);
    const all = await Promise.all(
      this.#queued.map(({ parts, norms }) =>
        Promise.all([Promise.all(parts.map(({ figures }) => read(figures))), Promise.all(norms.map(read))] as const),
      ),
    );
    const results = all.map(([figures, norms], i) => {
      const { parts } = this.#queued[i]!;
      const own = parts.map((_, p) => partResult(figures[p]!, this.settings));
      const result = stepResult(own, parts, this.settings.algorithm, norms[0]![0]!);
      const finite = norms.every(([norm]) => Number.isFinite(norm)) && Number.isFinite(result.figures['train/loss']);
      return { result, finite };
    });
    const bad = results.findIndex(({ finite }) => !finite);
    if (bad < 0) return results.map(({ result }) => result);
    for (const optimizer of this.#optimizers) optimizer.takeBack(results.length - bad);
    throw new Diverged({ tensor: 'gradient', index: 0, value: NaN });
  }

  /** Ends the round. */
  close(): void {
    this.#queue.keeps = false;
  }
}

/** Transitions in the order of their states. @param states number of them */
function byState({ state, action, oldLogProb, advantage, returns, oldValue }: Transitions, states: number) {
  const firsts = new Int32Array(states + 1);
  for (const s of state) firsts[s + 1]!++;
  for (let s = 0; s < states; s++) firsts[s + 1]! += firsts[s]!;
  const next = firsts.slice();
  const order = new Int32Array(state.length);
  state.forEach((s, t) => (order[next[s]!++] = t));
  const sorted = <Column extends Int32Array | Float32Array>(column: Column) =>
    column.map((_, i) => column[order[i]!]!) as Column;
  return {
    ...{ firsts, action: sorted(action), oldLogProb: sorted(oldLogProb), advantage: sorted(advantage) },
    ...{ returns: sorted(returns), oldValue: sorted(oldValue) },
  };
}

/** Sums over states in the order of `objectiveFigures`. */
type Figures = [number, number, number, number, number, number, number, number, number, number];

/** Result of a part from the shares of its states. @param figures float32 [states, figures of each] */
function partResult(figures: Float32Array, settings: PpoSettings): PartResult {
  const each = objectiveFigures.length;
  const sums = new Float64Array(each);
  let maxRatioDeviation = 0;
  for (let i = 0; i < figures.length; i++) sums[i % each]! += figures[i]!;
  for (let i = each - 1; i < figures.length; i += each) maxRatioDeviation = Math.max(maxRatioDeviation, figures[i]!);
  const [policyLoss, valueLoss, entropy, anchorKl, approxKl, clipFraction, normalized, choices, feasibilityLoss] = [
    ...sums,
  ] as Figures;
  const normalizedEntropy = choices > 0 ? normalized / choices : 0;
  return {
    losses: withLoss({ policyLoss, valueLoss, entropy, anchorKl, feasibilityLoss }, settings),
    diagnostics: { approxKl, clipFraction, normalizedEntropy, maxRatioDeviation },
  };
}

/** Returns and advantages of a rollout. Sums run in float64. */
import { groupBaselines, type PpoSettings } from './ppo-settings.js';

/**
 * Transitions of many episodes, in any interleaving as long as each episode's own are in time order.
 * A chain ends either terminated (nothing comes after) or truncated (the rest is estimated by `bootstrapValues`).
 */
export interface RolloutSteps {
  rewards: Float32Array;
  /** Critic's value of each transition's state; zeros without a critic. */
  values: Float32Array;
  /** int32: the next transition of its episode, or -1 at its end. */
  next: Int32Array;
  /** uint8: 1 where the episode terminated with this transition. */
  terminated: Uint8Array;
  /** Value of the state after the last transition of an episode that did not terminate; not read elsewhere. */
  bootstrapValues: Float32Array;
}

/** One advantage and one return per transition. */
export interface Advantages {
  advantages: Float32Array;
  /** Targets of the critic. */
  returns: Float32Array;
}

type AdvantageSettings = Pick<PpoSettings, 'baseline' | 'normalizeAdvantage' | 'gamma' | 'gaeLambda'>;

/**
 * Advantages by the settings, normalised over the whole rollout if enabled.
 * @param samples int32: sample of each transition, the group of `baseline: group-mean` and `leave-one-out`
 * @param averageReturn of the rounds before, for `baseline: moving-average`
 */
export function estimateAdvantages(
  rollout: RolloutSteps,
  samples: Int32Array,
  settings: AdvantageSettings,
  averageReturn: number,
): Advantages {
  const { baseline, gamma, gaeLambda } = settings;
  const estimated = groupBaselines.includes(baseline)
    ? groupAdvantages(rollout, samples, settings)
    : baseline === 'moving-average'
      ? advantagesFrom(averageReturn, rollout, gamma)
      : generalizedAdvantages(rollout, gamma, baseline === 'critic' ? gaeLambda : 1);
  if (settings.normalizeAdvantage === 'buffer') normalizeAdvantages(estimated.advantages, centres(settings));
  return estimated;
}

/** True if normalisation also subtracts the mean: not after a group mean or a moving average was already subtracted. */
export const centres = ({ baseline }: Pick<PpoSettings, 'baseline'>) => baseline === 'critic' || baseline === 'none';

/**
 * Generalised advantage estimation over episodes of any length.
 * δ = r + γV(s′) − V(s), with V(s′) = 0 after termination; A = δ + γλA′; return = A + V.
 * @param gamma discount in [0, 1]
 * @param lambda in [0, 1]: 0 is the one-step estimate, 1 the Monte-Carlo one
 * @source Schulman et al. 2016, "High-dimensional continuous control using generalized advantage estimation", eq. 16
 */
export function generalizedAdvantages(rollout: RolloutSteps, gamma: number, lambda: number): Advantages {
  const { rewards, values, next, terminated, bootstrapValues } = rollout;
  const exact = new Float64Array(rewards.length);
  const returns = new Float32Array(rewards.length);
  for (let t = rewards.length - 1; t >= 0; t--) {
    const after = next[t]!;
    const nextValue = terminated[t] ? 0 : after >= 0 ? values[after]! : bootstrapValues[t]!;
    const delta = rewards[t]! + gamma * nextValue - values[t]!;
    exact[t] = delta + (after >= 0 ? gamma * lambda * exact[after]! : 0);
    returns[t] = exact[t]! + values[t]!;
  }
  return { advantages: new Float32Array(exact), returns };
}

/** Discounted rewards to go, float64; a truncated end adds its bootstrap value. */
export function rewardsToGo({ rewards, next, terminated, bootstrapValues }: RolloutSteps, gamma: number): Float64Array {
  const sums = new Float64Array(rewards.length);
  for (let t = rewards.length - 1; t >= 0; t--) {
    const after = next[t]!;
    sums[t] = rewards[t]! + gamma * (after >= 0 ? sums[after]! : terminated[t] ? 0 : bootstrapValues[t]!);
  }
  return sums;
}

/**
 * Critic-free advantages: rewards to go minus the mean return of the episodes of the same group, its own left out with `leave-one-out`.
 * All explorations of a sample start in one state, so that mean estimates the start's value. With `normalizeAdvantage: group` they are
 * divided by the population deviation of the group's returns; a group without one gives 0.
 * @param groups int32: group of each transition, in [0, number of groups)
 * @source Shao et al. 2024, arXiv:2402.03300, section 4.1.2 (GRPO); Ahmadian et al. 2024, arXiv:2402.14740, equation 10 (RLOO)
 */
export function groupAdvantages(
  rollout: RolloutSteps,
  groups: Int32Array,
  { baseline, normalizeAdvantage, gamma }: Omit<AdvantageSettings, 'gaeLambda'>,
): Advantages {
  const sums = rewardsToGo(rollout, gamma);
  const begins = firstSteps(rollout);
  // Return of each transition's episode.
  const own = new Float64Array(sums.length);
  const returnsOf = new Map<number, number[]>();
  for (let first = 0; first < sums.length; first++) {
    if (!begins[first]) continue;
    for (let t = first; t >= 0; t = rollout.next[t]!) own[t] = sums[first]!;
    const returns = returnsOf.get(groups[first]!);
    if (returns) returns.push(sums[first]!);
    else returnsOf.set(groups[first]!, [sums[first]!]);
  }
  const statistics = new Map(
    Array.from(returnsOf, ([group, returns]) => {
      const deviation = normalizeAdvantage === 'group' ? Math.sqrt(variance(Float64Array.from(returns))) + 1e-8 : 1;
      return [group, { total: returns.reduce((sum, one) => sum + one, 0), count: returns.length, deviation }];
    }),
  );
  const advantages = Float32Array.from(sums, (sum, t) => {
    const { total, count, deviation } = statistics.get(groups[t]!)!;
    const mean = baseline === 'leave-one-out' && count > 1 ? (total - own[t]!) / (count - 1) : total / count;
    return (sum - mean) / deviation;
  });
  return { advantages, returns: Float32Array.from(sums) };
}

/**
 * Rewards to go minus a constant.
 * @param baseline such as a moving average of earlier returns
 * @source Williams 1992, "Simple statistical gradient-following algorithms", section 4
 */
function advantagesFrom(baseline: number, rollout: RolloutSteps, gamma: number): Advantages {
  const sums = rewardsToGo(rollout, gamma);
  return { advantages: Float32Array.from(sums, (sum) => sum - baseline), returns: Float32Array.from(sums) };
}

/** Mean discounted return of the episodes, from their first steps. */
export function meanReturn(rollout: RolloutSteps, gamma: number): number {
  const sums = rewardsToGo(rollout, gamma);
  const begins = firstSteps(rollout);
  let total = 0;
  let count = 0;
  for (let t = 0; t < sums.length; t++) {
    if (!begins[t]) continue;
    total += sums[t]!;
    count++;
  }
  return total / count;
}

/** uint8: 1 at the start of an episode. */
function firstSteps({ next }: RolloutSteps): Uint8Array {
  const begins = new Uint8Array(next.length).fill(1);
  for (const after of next) if (after >= 0) begins[after] = 0;
  return begins;
}

/**
 * Divides by the population standard deviation, in place, and returns its argument. Fewer than two values stay as they are.
 * @param center also subtracts the mean; false if a group mean or a moving average was already subtracted
 */
export function normalizeAdvantages(advantages: Float32Array, center = true, epsilon = 1e-8): Float32Array {
  const n = advantages.length;
  if (n < 2) return advantages;
  let mean = 0;
  for (const advantage of advantages) mean += advantage / n;
  let variance = 0;
  for (const advantage of advantages) variance += (advantage - mean) ** 2 / n;
  const shift = center ? mean : 0;
  const scale = 1 / (Math.sqrt(variance) + epsilon);
  for (let i = 0; i < n; i++) advantages[i] = (advantages[i]! - shift) * scale;
  return advantages;
}

/** 1 − Var(returns − values) / Var(returns): 1 for a perfect critic, 0 for a constant one; NaN where returns do not vary. */
export function explainedVariance(values: Float32Array, returns: Float32Array): number {
  const residuals = new Float64Array(returns.length);
  for (let t = 0; t < residuals.length; t++) residuals[t] = returns[t]! - values[t]!;
  const total = variance(returns);
  return total === 0 ? Number.NaN : 1 - variance(residuals) / total;
}

function variance(numbers: Float32Array | Float64Array): number {
  let mean = 0;
  for (let i = 0; i < numbers.length; i++) mean += numbers[i]! / numbers.length;
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += (numbers[i]! - mean) ** 2;
  return sum / numbers.length;
}

/** Mean of several networks' log-probabilities of legal actions. */
import type { StateScorer } from '../trainers/actor.js';

interface MeanMember<Request> {
  scorer: StateScorer<never>;
  /** Its own request for a state, the same object each time. Default: a copy, which preparing may add to. */
  requestOf?: (request: Request) => unknown;
}

/**
 * The mean of the members' log-probabilities, made to sum to 1 again in each state. Probabilities are not averaged: an action that one
 * member holds impossible stays so. Only for answering: nothing can go back through it.
 * @param members at least one, of equal legal actions in equal order
 */
export function meanScorer<Request extends object>(members: readonly MeanMember<Request>[]): StateScorer<Request> {
  const own = members.map(({ scorer, requestOf }) => {
    const known = new WeakMap<Request, unknown>();
    const of = (request: Request) => {
      let made = known.get(request);
      if (made === undefined) known.set(request, (made = requestOf ? requestOf(request) : { ...request }));
      return made;
    };
    return { scorer, all: (requests: readonly Request[]) => requests.map(of) as never[], of };
  });
  const limits = own.map(({ scorer }) => scorer.maxInferenceScores ?? scorer.maxScoresPerBatch ?? Infinity);
  return {
    // Of no use where nothing is trained; reading goes through `infer`.
    parameters: own[0]!.scorer.parameters,
    numScores: (request) => Math.max(...own.map(({ scorer, of }) => scorer.numScores(of(request) as never))),
    ...(Math.min(...limits) < Infinity && { maxInferenceScores: Math.min(...limits) }),
    async prepare(requests) {
      for (const { scorer, all } of own) await scorer.prepare?.(all(requests));
    },
    score(requests) {
      const scored = own.map(({ scorer, all }) => ({ scorer, ...scorer.score(all(requests)) }));
      const { offsets } = scored[0]!;
      return {
        offsets,
        logits: () => {
          throw new Error('a mean of networks is not trained');
        },
        async infer() {
          // What log-probabilities have beyond logits is the same for all actions of a state.
          const sum = new Float64Array(offsets.at(-1)!);
          for (const { masked, logits, infer } of scored) {
            const scores = await (infer ? infer() : logits().read());
            for (let i = 0; i < sum.length; i++) sum[i]! += scores[masked ? masked.legal[i]! : i]!;
          }
          return Float32Array.from(sum, (value) => value / scored.length);
        },
      };
    },
  };
}

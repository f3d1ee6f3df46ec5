/** Actions of a policy for observations from programs, other languages and servers. */
import { z } from 'zod';
import { ofShape } from '../../src/run/read-json.js';
import { Rng, subSeed } from '../../src/run/seeds.js';
import type { Chooser } from './play.js';
import type { PolicyShape, VectorObservation } from './spaces.js';

/** A vector, with a mask of legal actions (1 is legal) where the environment has one; plain lists of numbers do as well. */
export type GivenObservation = ArrayLike<number> | { observation: ArrayLike<number>; actionMask?: ArrayLike<number> };

/** Choice of an action. */
export const actOptions = z.strictObject({
  /** Take the most likely action instead of sampling. Default true. */
  deterministic: z.boolean().optional(),
  /** Seed of the sample: equal seeds give equal actions. Default: the policy's own generator draws on. */
  seed: z.int().optional(),
});
/** See `actOptions`. */
export type ActOptions = z.output<typeof actOptions>;

/** Chooses for one observation, by what chooses for several; calls that come at once are answered in turn. */
export function actorOf(shape: PolicyShape, choose: Chooser) {
  const own = new Rng(subSeed(0, 'policy/act'));
  let last: Promise<unknown> = Promise.resolve();
  return (observation: GivenObservation, options: ActOptions = {}): Promise<number> => {
    const act = async () => {
      const { deterministic, seed } = ofShape(options, actOptions, { what: 'options of act', place: 'act' });
      const seen = observed(observation, shape);
      const rng = seed === undefined ? own : new Rng(subSeed(seed, 'policy/act'));
      const [index] = Array.from(await choose([seen], [rng], deterministic));
      return shape.firstAction + index!;
    };
    const acted = last.then(act);
    last = acted.catch(() => undefined);
    return acted;
  };
}

const numbers = (length: number, one: z.ZodNumber) =>
  z.preprocess(
    (value) => (ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value),
    z.array(one).length(length, `expected ${length} numbers`),
  );

/** @throws WorkbenchError `data` for one of another shape, with what is wrong */
function observed(given: GivenObservation, { inputs, numActions, masked }: PolicyShape): VectorObservation {
  const vector = numbers(inputs, z.number());
  const mask = numbers(numActions, z.int().min(0).max(1)).refine(
    (legal) => legal.includes(1),
    'expected a legal action',
  );
  const what = `an observation of ${inputs} numbers${masked ? ` with an actionMask of ${numActions}` : ''}`;
  const place = { what, place: 'act' };
  if (masked) {
    const { observation, actionMask } = ofShape(
      given,
      z.strictObject({ observation: vector, actionMask: mask }),
      place,
    );
    return { observation: Float32Array.from(observation), actionMask: Uint8Array.from(actionMask) };
  }
  const plain = 'observation' in Object(given) ? (given as { observation: ArrayLike<number> }).observation : given;
  return Float32Array.from(ofShape(plain, vector, place));
}

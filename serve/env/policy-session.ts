/** Handles the requests of one client: a trained policy, or answers to link queries, behind frames. */
import { z } from 'zod';
import { actOptions, type GivenObservation } from '../../agents/policy/act.js';
import type { LoadedPolicy } from '../../agents/policy/agent.js';
import { kgwalkVersion } from '../../src/run/environment.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { ofShape, parseJson } from '../../src/run/read-json.js';
import type { LinkModel } from '../../tasks/links/model.js';
import { errorBody, frame, type Frame, ops, protocolVersion } from './frames.js';
import type { Session } from './transports.js';

const helloSchema = z.object({ protocol: z.literal(protocolVersion) });
const actSchema = actOptions.extend({ observation: z.unknown() });
const predictSchema = z.object({ head: z.string(), relation: z.string(), k: z.int().min(1).default(10) });

/** Answers `hello` by the policy's shape and `act` by an action; closes the policy at the end. */
export function policySession(policy: LoadedPolicy): Session {
  const { actions, shape } = policy;
  const { inputs, masked } = shape;
  return answeringSession({ actions, inputs, masked }, 'act', {
    longest: 2 ** 16 + 32 * (inputs + shape.numActions),
    async answer(text) {
      const place = { what: 'an observation', place: 'act' };
      const { observation, ...options } = ofShape(parseJson(text, place), actSchema, place);
      return { action: await policy.act(observation as GivenObservation, options) };
    },
    close: () => policy.close(),
  });
}

/** Answers `predict` by the best entities; closes the model at the end. */
export function linkSession(model: LinkModel): Session {
  return answeringSession({}, 'predict', {
    longest: 2 ** 20,
    async answer(text) {
      const place = { what: 'a query', place: 'predict' };
      const { head, relation, k } = ofShape(parseJson(text, place), predictSchema, place);
      return { answers: await model.predict(head, relation, k) };
    },
    close: () => model.close(),
  });
}

/** Answers `hello` by what is served and one kind of request by `answer`. */
function answeringSession(
  served: object,
  asks: 'act' | 'predict',
  { longest, answer, close }: Pick<Session, 'longest' | 'close'> & { answer(text: string): Promise<unknown> },
): Session {
  const answered = async (op: number, text: string): Promise<unknown> => {
    if (op === ops.hello) {
      const place = { what: 'a greeting', place: 'hello' };
      ofShape(parseJson(text, place), helloSchema, place);
      return { protocol: protocolVersion, program: `kgwalk ${kgwalkVersion()}`, ...served };
    }
    if (op === ops[asks]) return answer(text);
    throw new WorkbenchError('usage', `expected hello, ${asks} or close, got op ${op}, at a request`);
  };
  return {
    longest,
    async answer({ op, body }: Frame) {
      if (op === ops.close) return undefined;
      try {
        return frame(op, [Buffer.from(JSON.stringify(await answered(op, body.toString())))]);
      } catch (error) {
        return frame(ops.error, [errorBody(error)]);
      }
    },
    close,
  };
}

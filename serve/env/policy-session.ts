/** Handles the requests of one client: a trained policy behind frames. */
import { z } from 'zod';
import { actOptions, type GivenObservation } from '../../agents/policy/act.js';
import type { LoadedPolicy } from '../../agents/policy/agent.js';
import { kgwalkVersion } from '../../src/run/environment.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { ofShape, parseJson } from '../../src/run/read-json.js';
import { errorBody, frame, type Frame, ops, protocolVersion } from './frames.js';
import type { Session } from './transports.js';

const helloSchema = z.object({ protocol: z.literal(protocolVersion) });
const actSchema = actOptions.extend({ observation: z.unknown() });

/** Answers `hello` by the policy's shape and `act` by an action; closes the policy at the end. */
export function policySession(policy: LoadedPolicy): Session {
  const { actions, shape } = policy;
  const answer = async (op: number, text: string): Promise<unknown> => {
    if (op === ops.hello) {
      const place = { what: 'a greeting', place: 'hello' };
      ofShape(parseJson(text, place), helloSchema, place);
      const { inputs, masked } = shape;
      return { protocol: protocolVersion, program: `kgwalk ${kgwalkVersion()}`, actions, inputs, masked };
    }
    if (op !== ops.act) throw new WorkbenchError('usage', `expected hello, act or close, got op ${op}, at a request`);
    const place = { what: 'an observation', place: 'act' };
    const { observation, ...options } = ofShape(parseJson(text, place), actSchema, place);
    return { action: await policy.act(observation as GivenObservation, options) };
  };
  return {
    longest: 2 ** 16 + 32 * (shape.inputs + shape.numActions),
    async answer({ op, body }: Frame) {
      if (op === ops.close) return undefined;
      try {
        return frame(op, [Buffer.from(JSON.stringify(await answer(op, body.toString())))]);
      } catch (error) {
        return frame(ops.error, [errorBody(error)]);
      }
    },
    close: () => policy.close(),
  };
}

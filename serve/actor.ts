/** Actions of trained policies, over HTTP. */
import { z } from 'zod';
import { actOptions, type GivenObservation } from '../agents/policy/act.js';
import { loadPolicy } from '../agents/policy/agent.js';
import { ofShape } from '../src/run/read-json.js';
import { keptRuns, whichRun } from './kept-runs.js';
import type { World } from './runs.js';

const path = '/api/act';

const request = z.strictObject({
  ...whichRun,
  observation: z.array(z.number()),
  /** Mask, of environments that have one: 1 is legal. */
  actionMask: z.array(z.number()).optional(),
  ...actOptions.shape,
});

/** Close it after use. */
export function openActor(world: World) {
  const kept = keptRuns(world, path, (folder, checkpoint) => loadPolicy(folder, { checkpoint }));
  return {
    /** @param body JSON @throws WorkbenchError `usage` or `data` for an invalid request */
    async act(body: unknown): Promise<{ action: number }> {
      const asked = ofShape(body, request, { what: 'an observation as docs/live.md describes it', place: path });
      const { run, checkpoint, deterministic, seed, ...observation } = asked;
      const seen = (observation.actionMask ? observation : observation.observation) as GivenObservation;
      return kept.use({ run, checkpoint }, async (policy) => ({
        action: await policy.act(seen, { deterministic, seed }),
      }));
    },
    close: kept.close,
  };
}

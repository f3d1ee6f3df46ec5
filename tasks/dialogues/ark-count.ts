/** Counting by LLM-ARK's reference: for agents that walk two steps with its beam. */
import type { Agent } from '../../agents/agent.js';
import { arkBeamWidth } from '../../src/metrics/ark-ranks.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Note printed with these columns. */
export const arkCountWarning =
  `ark columns repeat the published code of LLM-ARK, to compare with its paper alone: a target counts where any slot of a beam of ${arkBeamWidth} held it after either step, ` +
  'and it is the end of the gold’s first hop; no other system’s figures, nor the strict columns, compare with them.';

/**
 * @param horizon steps of a walk. Default 2
 * @throws WorkbenchError `usage` for walks of other lengths or a beam that is narrower than the reference's
 */
export function checkArkCount({ horizon = 2, beamWidth }: { horizon: number | undefined; beamWidth: number }): void {
  if (horizon !== 2) {
    throw new WorkbenchError('usage', `expected walks of two steps, got env.horizon ${horizon}, at --count ark`, {
      hint: 'LLM-ARK’s code compares pairs of triples. Leave --count ark out, or train a run of env.horizon 2.',
    });
  }
  if (beamWidth < arkBeamWidth) {
    throw new WorkbenchError('usage', `expected a beam of at least ${arkBeamWidth}, got ${beamWidth}, at --count ark`, {
      hint: 'LLM-ARK’s beam is taken out of the one that is there: raise --beam-width or evaluation.beamWidth.',
    });
  }
}

/** Agents by what they are called that have no beam of steps: they name walks. @throws WorkbenchError `usage` */
export function refuseArkCount(agent: string): never {
  throw new WorkbenchError('usage', `expected an agent that walks step by step, got ${agent}, at --count ark`, {
    hint: 'Trained walkers and the baselines that score every walk have a beam of two steps; prompted agents name walks.',
  });
}

/** The agent, refused at its first answer without LLM-ARK's beam. */
export function keepingArkBeam(agent: Agent): Agent {
  return {
    ...agent,
    async answer(...asked) {
      const answers = await agent.answer(...asked);
      if (answers.some(({ arkBeam }) => !arkBeam)) refuseArkCount(agent.name);
      return answers;
    },
  };
}

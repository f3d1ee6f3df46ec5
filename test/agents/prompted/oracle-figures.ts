/**
 * What the simulated model, faultless, makes of every prompted agent of questions: a line an agent. A new agent needs one;
 * `oracle-agents.test.ts` says so.
 */

/** Figures of 2-hop and 3-hop questions of MetaQA. */
type OfHops = readonly [two: number, three: number];

export interface OracleFigures {
  /** Calls a question. Written: of the specification, or measured on other questions of dev-valid where it has none. */
  calls: { written: OfHops; likelihood: OfHops };
  /** The figures of `calls` have a call for a choice of one relation, which is not made. */
  countsSingles?: true;
  /** Switches without which the simulated model cannot play its part. */
  switches?: Partial<Record<'written' | 'likelihood', Readonly<Record<string, unknown>>>>;
  /** Rules by which less than 99 % is answered in full, with the share of questions (percent) that is. */
  exceptions?: readonly { mode: 'written' | 'likelihood'; rule: string; complete: OfHops; films: number }[];
}

/** Agents that answer from memory: the simulated model has nothing to read. */
export const byHeart: readonly string[] = ['io', 'cot'];

export const oracleFigures: Readonly<Record<string, OracleFigures>> = {
  tog: {
    calls: { written: [7.0, 11.5], likelihood: [2.8, 6.0] },
    exceptions: [
      {
        mode: 'written',
        rule: 'three beams are three entities, and so at most three answers',
        complete: [64.7, 23.3],
        films: 100,
      },
    ],
  },
  fiske: {
    calls: { written: [6.1, 8.6], likelihood: [3, 4] },
    // Its clues are not names and words of the question.
    switches: { likelihood: { clues: 'model' } },
  },
  'self-veqa': { calls: { written: [2, 2], likelihood: [2, 2] } },
  rog: { calls: { written: [2, 2], likelihood: [1, 1] } },
  gcr: { calls: { written: [2, 2], likelihood: [1, 1] } },
  structgpt: { calls: { written: [3.4, 5.6], likelihood: [1.4, 2.6] } },
  'kg-gpt': { calls: { written: [3.5, 5], likelihood: [2.5, 4] } },
  pog: { calls: { written: [9, 14], likelihood: [2.8, 7.3] }, countsSingles: true },
  'knowledge-navigator': { calls: { written: [6.2, 9.9], likelihood: [5.2, 8.9] } },
  reader: {
    // Where one relation alone leads on at the last hop there is one walk.
    calls: { written: [1, 1], likelihood: [0.91, 1] },
    switches: { written: { walker: 'any' }, likelihood: { walker: 'any' } },
  },
};

/** Which agents write the corpus's decisions, with which switches, and how often they are led astray. */

/** One agent with its switches, how often it is asked, and how often it is led astray. */
export interface AgentPlan {
  agent: string;
  switches: Record<string, unknown>;
  /** Probability, in [0, 1], that a reply that the agent gets is wrong; what is learned is right either way. */
  error: number;
  /** Relative frequency among all plans. */
  weight: number;
}

/** Small models err: agents that were never led astray would ask of places where the model never was. */
const astray = 0.3;

/** Several settings of each agent, so that prompts of other lengths are known too. */
export const agentPlans: readonly AgentPlan[] = [
  { agent: 'self-veqa', switches: { triples: 8, shots: 6 }, error: 0, weight: 2 },
  { agent: 'self-veqa', switches: { triples: 8, shots: 6, memoryPerChain: 2 }, error: astray, weight: 2 },
  { agent: 'self-veqa', switches: { memory: 'off', triples: 0 }, error: astray, weight: 2 },
  { agent: 'self-veqa', switches: {}, error: astray, weight: 1 },
  { agent: 'tog', switches: {}, error: 0, weight: 3 },
  { agent: 'tog', switches: { width: 2 }, error: astray, weight: 4 },
  { agent: 'fiske', switches: {}, error: 0, weight: 3 },
  { agent: 'fiske', switches: {}, error: astray, weight: 4 },
  { agent: 'io', switches: {}, error: 0, weight: 1 },
  { agent: 'cot', switches: {}, error: 0, weight: 1 },
];

/** Decisions of one phase that one question gives at most: an agent asks many that are alike. */
export const mostOfPhase = (phase: string): number => (rare.has(phase) ? 1 : 2);

/** Phases whose replies say little: all or none of the entities of one relation, or what was asked before. */
const rare: ReadonlySet<string> = new Set(['entity-map', 'entity-prune', 'judge']);

/** Agents whose decisions become documents for likelihood: those that walk, at every step and led astray too. */
export const likelihoodPlans: readonly AgentPlan[] = [
  { agent: 'tog', switches: {}, error: 0, weight: 3 },
  { agent: 'tog', switches: { width: 2 }, error: astray, weight: 5 },
  { agent: 'self-veqa', switches: { memory: 'off', triples: 0 }, error: astray, weight: 3 },
  { agent: 'self-veqa', switches: { triples: 8, shots: 6 }, error: astray, weight: 1 },
  { agent: 'fiske', switches: {}, error: 0, weight: 1 },
  { agent: 'fiske', switches: {}, error: astray, weight: 2 },
];

/** Runs Self-VEQA on the made-up town with a scripted model. */
import { questionAgents } from '../../../../agents/question-agents.js';
import type { QuestionAgent } from '../../../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../../../datasets/question.js';
import type { Decision, JudgeDecision } from '../../../../src/llm/decision.js';
import { graphOf, resourcesOf, taskOf, townAsker, townFacts, type Ways } from '../clock-town.js';

export const graph = graphOf(townFacts);
export const relation = (name: string) => graph.relationId(name);
export const chainOf = (...names: string[]) => names.map(relation);

const question = 'who repaired the clocks that Orla Brandt bought';
export const townTask: QuestionTask = taskOf({
  topics: [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt'), span: [29, 40] }],
  hops: 2,
});

/** A solved question about another person. */
export function solved(id: string, text: string, topic: string, chain: readonly number[]): QuestionSample {
  const begin = text.indexOf(topic);
  const span = [begin, begin + topic.length] as const;
  return {
    task: { ...taskOf({ id, question: text }), topics: [{ name: topic, entity: graph.entityId(topic), span }] },
    gold: { answers: [], chains: [chain] },
  };
}

export const train: readonly QuestionSample[] = [
  solved('t-1', question.replace('Orla Brandt', 'Sten Holm'), 'Sten Holm', chainOf('~purchased_by', 'repaired_by')),
  solved('t-2', 'where do the clocks stand that Sten Holm bought', 'Sten Holm', chainOf('~purchased_by', 'stands_in')),
  solved('t-3', 'where does Sten Holm live', 'Sten Holm', chainOf('lives_in')),
];

/** Proposes these chains, one list a round, and judges so. */
export interface Script {
  rounds: readonly (readonly (readonly number[])[] | undefined)[];
  judge?: (decision: JudgeDecision) => { choice: number; reason: string; answers?: string[] } | undefined;
}

/** Chooses the first candidate whose chain ends in `repaired_by`. */
export const wiseJudge = ({ candidates }: JudgeDecision) => {
  const choice = candidates.findIndex(
    (one) => one.kind === 'chain' && one.relations.at(-1) === relation('repaired_by'),
  );
  return { choice, reason: choice < 0 ? 'No chain ends at who repaired them.' : 'It does.', answers: [] };
};

export type Asked = Awaited<ReturnType<typeof ask>>;

export async function townAgent(switches: Record<string, unknown> = {}): Promise<QuestionAgent> {
  return questionAgents.create('self-veqa', { ...resourcesOf(graph), train: () => train }, switches);
}

export async function ask(
  { rounds, judge = wiseJudge }: Script,
  { task, ...ways }: Ways & { task?: Partial<QuestionTask> } = {},
) {
  let round = 0;
  const script = (decision: Decision) => {
    if (decision.kind === 'judge') return judge(decision);
    const chains = rounds[round++];
    return chains && { chains };
  };
  const asked = await townAsker('self-veqa', { hops: 2 })(script, { train, ...ways, change: task });
  const of = <Kind extends Decision['kind']>(kind: Kind) =>
    asked.asked.filter((one): one is Extract<Decision, { kind: Kind }> => one.kind === kind);
  return { ...asked, proposals: of('chains'), judgements: of('judge') };
}

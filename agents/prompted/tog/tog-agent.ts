/**
 * Think-on-Graph: a beam search over the graph whose every step is scored by the language model, until the model says
 * that the facts suffice.
 *
 * Inputs: the question and its topic entities. Calls with N = width, D = depth: at most N a depth for relations, N² for
 * entities and 1 for the verdict, and 1 for the answer; 1 + ND(N + 1) + D with one topic. Stop: verdict `suffices`, no way on (`half-stop`), `hops`
 * (the given number), depth, budget. Output: the model's answers, by name, mapped to entities of the evidence first.
 *
 * Where the reference differs: it reads relation names by pattern (here they are numbered), draws 5 of 20 or more
 * entities without a seed (here the first by id, or a seeded draw), pools the beams' last relations and forbids their
 * inverses (here each beam has its own path, and only the edge it came by is closed), and asks the model without the facts when the depth is exhausted (`finalPolicy: cot`).
 * @source Sun et al. 2024, "Think-on-Graph", algorithm 1
 */
import { textVectors } from '../../../src/encoder/state-encoder.js';
import { canonicalOrder } from '../../../src/kg/frontier.js';
import type { QuestionAgentResources, QuestionAnswer, QuestionSession } from '../../question-agent.js';
import { alonePrompts } from '../direct-answer.js';
import { distinctFacts, factOf, unlessSpent } from '../facts.js';
import { fromFrontier, frontierAnswers, frontierOf, promptsFor, saidAnswers, walkFacts } from '../frontier-steps.js';
import { overlapSource, vectorSource } from '../prefilter/text-source.js';
import { Attempt, walkingAgent } from '../walking-agent.js';
import { type Beam, explore, type TogAttempt, togSettings, type TogSettings } from './explore.js';
import * as prompts from './prompts.js';
import { modelScorer, textScorer, type Scorer } from './scorer.js';
import { walkSets } from './walk-sets.js';

/** The agent `tog` with its switches. */
export const togEntry = walkingAgent(
  'tog',
  togSettings,
  async (opened) => {
    const parts = { ...opened, scorer: await scorerOf(opened.resources, opened.settings) };
    const answering = ({ client }: QuestionSession) =>
      fromFrontier(opened.settings.answers, client) ? answerFromSets : answer;
    return (task, session) => answering(session)(new Attempt(task, session, parts));
  },
  { walksRemote: true },
);

async function scorerOf({ encoder }: QuestionAgentResources, { prune }: TogSettings): Promise<Scorer> {
  if (prune === 'embedding') return textScorer(vectorSource(textVectors(await encoder())));
  return prune === 'bm25' ? textScorer(overlapSource) : modelScorer;
}

/** Facts that an answer out of sets shows. */
const mostFacts = 50;

/** Follow whole sets; all ends of the best path are answers. */
async function answerFromSets(attempt: TogAttempt): Promise<QuestionAnswer> {
  const { graph, task } = attempt;
  const { walk, stop, confidence } = await walkSets(attempt);
  const found = walk.relations.length > 0;
  return {
    ...frontierAnswers(graph, task, found ? canonicalOrder(frontierOf(walk)) : []),
    chain: found ? walk.relations : undefined,
    evidence: found ? walkFacts(graph, task, walk, mostFacts) : [],
    confidence: found ? confidence : undefined,
    ...attempt.ended(stop),
  };
}

async function answer(attempt: TogAttempt): Promise<QuestionAnswer> {
  const { graph, task, client, session, settings } = attempt;
  const { id: questionId, question, form } = task;
  const { dataset, names } = attempt.parts.resources;
  const walked: Beam[] = [];
  const verdict: { answers?: readonly string[] } = {};
  const facts = () => distinctFacts(walked.flatMap(({ path }) => path.map((triple) => factOf(graph, triple))));
  const stop = await attempt.explored(async () => {
    const hops = await attempt.hops();
    let beams: Beam[] = attempt.start.topics.map((entity) => ({ entity, path: [], score: 1 }));
    for (let depth = 1; depth <= (hops ?? settings.depth); depth++) {
      beams = await explore(beams, attempt);
      const operation = `depth ${depth}: ${beams.length} beams`;
      session.trace({ event: 'graph', operation, reads: attempt.graphReads });
      if (beams.length === 0) return 'half-stop';
      walked.push(...beams);
      if (hops !== undefined) continue;
      const { judgeTask, judgeExamples: examples } = prompts;
      const { reply } = await client.decide({
        ...{ questionId, question, evidence: facts(), phase: 'judge', kind: 'judge', task: judgeTask, examples },
        ...{ candidates: [], withAnswers: true },
      });
      if (!reply) attempt.degraded = true;
      verdict.answers = reply?.choice === 0 ? reply.answers : undefined;
      if (verdict.answers) return 'suffices';
    }
    return hops === undefined ? 'depth' : 'hops';
  });
  const alone = stop === 'depth' && settings.finalPolicy === 'cot';
  const asked = alone ? { ...alonePrompts(dataset), ...prompts.aloneTasks } : prompts.answerPrompts;
  const answering = () =>
    client.decide({
      ...{ questionId, question, evidence: alone ? [] : facts(), phase: 'answer', kind: 'answer' },
      ...{ ...promptsFor(form, asked), form, withReasoning: alone, final: true },
    });
  const said = verdict.answers ?? (await unlessSpent(answering()))?.reply?.answers;
  attempt.degraded ||= said === undefined;
  const met = new Set(walked.flatMap(({ path }) => path.flatMap(([head, , tail]) => [head, tail])));
  return {
    ...saidAnswers(task, said ?? [], { names, met }),
    evidence: facts(),
    verified: stop === 'suffices' || undefined,
    ...attempt.ended(stop),
  };
}

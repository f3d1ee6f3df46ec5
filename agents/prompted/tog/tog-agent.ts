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
import type { QuestionTask } from '../../../datasets/question.js';
import { canonicalOrder } from '../../../src/kg/frontier.js';
import { type AnswerReply, BudgetSpent, type Decision } from '../../../src/llm/decision.js';
import { exemplarsFor, truthExemplars } from '../exemplars.js';
import { distinctFacts, factOf, groundNames, truthOf, unlessSpent } from '../facts.js';
import type { QuestionAgentResources, QuestionAnswer, QuestionSession } from '../../question-agent.js';
import { foundTopics, fromFrontier, frontierAnswers, frontierOf, startWalk, walkFacts } from '../frontier-steps.js';
import { overlapSource, vectorSource } from '../prefilter/text-source.js';
import { textVectors } from '../../../src/encoder/state-encoder.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';
import { explore, type Beam } from './explore.js';
import * as prompts from './prompts.js';
import { modelScorer, textScorer, type Scorer } from './scorer.js';
import { togSettings, type TogSettings } from './settings.js';
import { walkSets } from './walk-sets.js';

/** The agent `tog` with its switches. */
export const togEntry = walkingAgent(
  'tog',
  togSettings,
  async (opened) => {
    const parts = { ...opened, scorer: await scorerOf(opened.resources, opened.settings) };
    return (task, session) =>
      fromFrontier(opened.settings.answers, session.client)
        ? answerFromSets(task, session, parts)
        : answer(task, session, parts);
  },
  { walksRemote: true },
);

async function scorerOf({ encoder }: QuestionAgentResources, { prune }: TogSettings): Promise<Scorer> {
  if (prune === 'embedding') return textScorer(vectorSource(textVectors(await encoder())));
  return prune === 'bm25' ? textScorer(overlapSource) : modelScorer;
}

interface Parts extends WalkingParts<TogSettings> {
  scorer: Scorer;
}

/** Facts that an answer out of sets shows. */
const mostFacts = 50;

/** Follow whole sets; all ends of the best path are answers. */
async function answerFromSets(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { graph } = parts.resources;
  let graphReads = 0;
  let degraded = false;
  session.trace({ event: 'start', entities: startWalk(task).topics });
  const { walk, stop, confidence } = await walkSets({
    ...{ ...parts, graph, task, session, hops: await parts.hopsOf(task, session) },
    read: (edges) => (graphReads += edges),
    degrade: () => (degraded = true),
  });
  session.trace({ event: 'stop', reason: stop });
  const found = walk.relations.length > 0;
  return {
    ...frontierAnswers(graph, task, found ? canonicalOrder(frontierOf(walk)) : []),
    ...(found && { chain: [...walk.relations] }),
    evidence: found ? walkFacts(graph, task, walk, mostFacts) : [],
    ...(found && confidence !== undefined && { confidence }),
    ...{ degraded, stop, cost: { graphReads } },
  };
}

async function answer(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { resources, settings } = parts;
  const { graph, names, seed } = resources;
  const { client, trace } = session;
  let graphReads = 0;
  let degraded = false;
  let beams: Beam[] = foundTopics(task).map((entity) => ({ entity, path: [], score: 1 }));
  trace({ event: 'start', entities: beams.map(({ entity }) => entity) });
  const walked: Beam[] = [];
  const facts = () => distinctFacts(walked.flatMap(({ path }) => path.map((triple) => factOf(graph, triple))));
  let stop = beams.length === 0 ? 'no-topic' : 'depth';
  let verdict: AnswerReply | undefined;
  const exploration = {
    ...{ graph, settings, seed, task, session, scorer: parts.scorer, prefilter: parts.prefilter },
    read: (edges: number) => (graphReads += edges),
    degrade: () => (degraded = true),
  };
  try {
    const hops = await parts.hopsOf(task, session);
    if (hops !== undefined && beams.length > 0) stop = 'hops';
    for (let depth = 1; depth <= (hops ?? settings.depth) && beams.length > 0; depth++) {
      beams = await explore(beams, exploration);
      trace({ event: 'graph', operation: `depth ${depth}: ${beams.length} beams`, reads: graphReads });
      if (beams.length === 0) {
        stop = 'half-stop';
        break;
      }
      walked.push(...beams);
      if (hops !== undefined) continue;
      const { reply } = await client.decide({
        ...common(task, facts(), 'judge'),
        kind: 'judge',
        task: prompts.judgeTask,
        examples: prompts.judgeExamples,
        candidates: [],
        withAnswers: true,
      });
      if (!reply) degraded = true;
      if (reply?.choice === 0) {
        stop = 'suffices';
        verdict = { answers: reply.answers };
        break;
      }
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    stop = 'budget';
  }
  const final =
    verdict ?? (await lastAnswer(task, session, parts, stop === 'depth' ? settings.finalPolicy : 'triples', facts()));
  degraded ||= final === undefined;
  trace({ event: 'stop', reason: stop });
  const met = new Set(walked.flatMap(({ path }) => path.flatMap(([head, , tail]) => [head, tail])));
  const said = final?.answers ?? [];
  return {
    ...(task.form === 'truth' ? { entities: [], literals: [], ...truthOf(said) } : groundNames(said, names, met)),
    text: said.join('; '),
    evidence: facts(),
    ...(stop === 'suffices' && { verified: true }),
    degraded,
    stop,
    cost: { graphReads },
  };
}

/** The answer phase, on the call that the budget keeps for it. Undefined where nothing could be read or asked. */
async function lastAnswer(
  task: QuestionTask,
  { client }: QuestionSession,
  { resources: { dataset } }: Parts,
  policy: TogSettings['finalPolicy'],
  facts: ReturnType<typeof distinctFacts>,
): Promise<AnswerReply | undefined> {
  const truth = task.form === 'truth';
  const alone = policy === 'cot';
  const exemplars = truth ? truthExemplars(true) : exemplarsFor(dataset, 'auto', true);
  const [answerTask, truthTask] = alone
    ? [prompts.aloneTask, prompts.aloneTruthTask]
    : [prompts.answerTask, prompts.truthAnswerTask];
  const grounded = truth ? prompts.truthAnswerExamples : prompts.answerExamples;
  const decided = await unlessSpent(
    client.decide({
      ...common(task, alone ? [] : facts, 'answer'),
      kind: 'answer',
      task: truth ? truthTask : answerTask,
      examples: alone ? exemplars : grounded,
      form: task.form,
      withReasoning: alone,
      final: true,
    }),
  );
  return decided?.reply;
}

function common(
  { id, question }: QuestionTask,
  evidence: Decision['evidence'],
  phase: string,
): Pick<Decision, 'questionId' | 'question' | 'evidence' | 'phase'> {
  return { questionId: id, question, evidence, phase };
}

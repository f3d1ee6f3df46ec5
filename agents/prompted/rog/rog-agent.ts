/**
 * RoG: the model plans relation sequences, the graph is walked along them, and the model answers from what was found.
 *
 * Inputs: the question, its topics, the number of hops if the data set gives it. Calls: 2, 1 where answers come from the frontier
 * or no plan leads anywhere. Stop: `answered`, `frontier`, `nowhere` (no plan leads anywhere: nothing is answered from memory),
 * `no-way`, `no-topic`, `budget`.
 *
 * Where the reference differs: its graph keeps one relation a pair of entities and no direction; a hub's paths are without limit;
 * a plan that leads nowhere leaves the model to answer from memory, unmarked; its planner was tuned on the graph's own relations.
 * @source Luo et al. 2024, "Reasoning on graphs: faithful and interpretable large language model reasoning"
 */
import { z } from 'zod';
import { choice, whole } from '../../registry.js';
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import {
  chainEvidence,
  noAnswer,
  type QuestionAgentResources,
  type QuestionAnswer,
  type QuestionSession,
} from '../../question-agent.js';
import { distinctFacts, unlessSpent } from '../facts.js';
import {
  type AnswerPrompts,
  answersSwitch,
  decideAnswer,
  foundTopics,
  fromFrontier,
  frontierAnswers,
  saidAnswers,
} from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';
import { chainChoice, chainText, executed, type ExecutedChain } from '../self-veqa/chains.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';
import { planAmong, planFreely, type Planned, type RelationNames, relationsByName } from './plans.js';

/** Answer prompts, with solved instances of a made-up orchard. */
const answerPrompts: AnswerPrompts = {
  task: 'Answer the question from the facts, which lie on the paths that were found. Give every answer that they show, by name, best first.',
  examples: [
    {
      question: 'who planted the trees that grow beside Mill Pond',
      evidence: [
        ['Old Pippin', 'grows_beside', 'Mill Pond'],
        ['Old Pippin', 'planted_by', 'Runa Teal'],
      ],
      reply: { answers: ['Runa Teal'] },
    },
  ],
  truthTask: 'Say whether the statement is true or false, from the facts, which lie on the paths that were found.',
  truthExamples: [
    {
      question: 'true or false: Runa Teal planted the Old Pippin',
      evidence: [['Old Pippin', 'planted_by', 'Runa Teal']],
      reply: { answers: ['true'] },
    },
  ],
};

const rogSettings = z.strictObject({
  plans: whole(1, 20, 3).describe('Relation sequences that are planned.'),
  vocabulary: choice(['reachable', 'graph', 'free'], 'reachable').describe(
    'What a plan may hold: relations that lead on from the topic, all of the graph, or what the model writes (the paper); where words are scored free is graph.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 4, 2).describe('Longest plan where the length is not given.'),
  maxChains: whole(1, 50_000, 6000).describe('Sequences that the grammar may hold.'),
  maxPaths: whole(1, 1000, 60).describe('Facts of each plan that the answer is read from.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

type RogSettings = z.output<typeof rogSettings>;

/** The agent `rog` with its switches. */
export const rogEntry = walkingAgent('rog', rogSettings, (opened) => {
  let names: RelationNames | undefined;
  const parts = { ...opened, names: () => (names ??= relationsByName(opened.resources.graph)) };
  return (task, session) => answer(task, session, parts);
});

interface Parts extends WalkingParts<RogSettings> {
  names: () => RelationNames;
}

async function answer(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { graph } = parts.resources;
  const { trace } = session;
  const topics = foundTopics(task);
  trace({ event: 'start', entities: topics });
  if (topics.length === 0) return ended(session, 'no-topic');
  const planned = await plansOf(task, session, parts);
  if (typeof planned === 'string') return ended(session, planned, planned === 'unparsed');
  const { chains, note, confidence } = planned;
  if (note !== undefined) trace({ event: 'note', text: note });
  const walked = await Promise.all(chains.map((chain) => executed(graph, topics, chain, excludedTopics(task))));
  const summary = walked.map(({ chain, answers }) => `${chainText(graph, chain)} (${answers.length})`).join('; ');
  trace({ event: 'decision', phase: 'propose', summary });
  const leading = walked.filter(({ answers }) => answers.length > 0);
  if (leading.length === 0) return ended(session, 'nowhere', true);
  const found = await answerFromChains(task, session, { ...parts, topics, leading });
  return { ...found, confidence };
}

/** No answer, recorded in the trace. */
export function ended({ trace }: QuestionSession, stop: string, degraded = false): QuestionAnswer {
  trace({ event: 'stop', reason: stop });
  return { ...noAnswer(stop), degraded };
}

/** Or why there are none. */
async function plansOf(
  task: QuestionTask,
  session: QuestionSession,
  { resources: { graph }, settings, names, hopsOf, prefilter }: Parts,
): Promise<Planned | 'budget' | 'unparsed' | 'no-way'> {
  const { client, trace } = session;
  const hops = await hopsOf(task, session);
  const limits = { count: settings.plans, final: fromFrontier(settings.answers, client) };
  const isFree = settings.vocabulary === 'free';
  if (isFree && !client.byLikelihood) return planFreely(graph, names(), task, client, { ...limits, hops });
  const space = { ...settings, vocabulary: settings.vocabulary === 'reachable' ? 'reachable' : 'all' } as const;
  const choice = await chainChoice(graph, task, hops, [], undefined, prefilter, space, session.signal);
  if (choice.note) trace({ event: 'note', text: choice.note });
  return choice.allowed.length === 0 ? 'no-way' : planAmong(graph, task, client, choice, limits);
}

/** Inputs of the answer from walked sequences. */
interface ChainsFound {
  resources: QuestionAgentResources;
  settings: Pick<RogSettings, 'answers' | 'maxPaths'>;
  topics: readonly number[];
  /** Sequences that lead somewhere, best first, at least one. */
  leading: readonly ExecutedChain[];
}

/** The answer in the model's words, from the facts along the sequences; or everything that the best one leads to. */
export async function answerFromChains(
  task: QuestionTask,
  { client, trace }: QuestionSession,
  { resources: { graph, names }, settings, topics, leading }: ChainsFound,
): Promise<QuestionAnswer> {
  const best = leading[0]!;
  const evidence = distinctFacts(
    leading.flatMap((one) =>
      chainEvidence(graph, topics, one.chain, one.answers, settings.maxPaths, excludedTopics(task)),
    ),
  );
  const rest = { chains: leading.map((one) => one.chain), evidence, cost: {} };
  if (fromFrontier(settings.answers, client)) {
    trace({ event: 'stop', reason: 'frontier' });
    const { chain, answers } = best;
    return { ...frontierAnswers(graph, task, answers), ...rest, chain, degraded: false, stop: 'frontier' };
  }
  const decided = await unlessSpent(decideAnswer(task, client, evidence, answerPrompts));
  const said = decided?.reply?.answers;
  const stop = said ? 'answered' : decided ? 'unparsed' : 'budget';
  trace({ event: 'stop', reason: stop });
  const answered = { names, leading, said: said ?? [] };
  return { ...readFromChains(task, answered), ...rest, degraded: said === undefined, stop };
}

/** Answers of the model, and the sequence that leads to most of them; ties go to the better one. */
function readFromChains(
  task: QuestionTask,
  { names, leading, said }: Pick<QuestionAgentResources, 'names'> & Pick<ChainsFound, 'leading'> & { said: string[] },
): ReturnType<typeof saidAnswers> & Pick<QuestionAnswer, 'chain'> {
  // Of homonyms those that any sequence leads to.
  const met = new Set(leading.flatMap(({ answers }) => answers));
  const lookup = (name: string) => {
    const homonyms = names.lookup(name);
    const known = homonyms.filter((entity) => met.has(entity));
    return known.length > 0 ? known : homonyms;
  };
  const meant = new Set(said.flatMap(lookup));
  const held = leading.map(({ answers }) => answers.filter((entity) => meant.has(entity)).length);
  const { chain, answers: ends } = leading[held.indexOf(Math.max(...held))]!;
  return { ...saidAnswers(task, said, { names: { lookup }, met: new Set(ends), ends }), chain };
}

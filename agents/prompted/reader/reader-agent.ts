/**
 * The reader: a trained relation walker finds the walks, by its own beam, and the language model reads what lies on them.
 *
 * Inputs: the question, its topics, the number of hops if given; else the walker chooses when to stop. Calls: 1: the answer, or where answers
 * come from the frontier which walk leads to it, none where there is one walk. Stop: `answered`, `frontier` (everything that the chosen walk leads to), `unparsed`, `no-way`, `no-topic`, `budget`.
 *
 * Where the reference differs: there a graph network ranks entities, and shortest paths to the best of them are read; here walks
 * are ranked, and all that they lead to is read.
 * @source Mavromatis and Karypis 2025, "GNN-RAG: graph neural retrieval for efficient large language model reasoning on knowledge graphs"
 */
import { z } from 'zod';
import { whole } from '../../registry.js';
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import { chainFrontiers } from '../../../src/kg/frontier.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type {
  QuestionAgent,
  QuestionAgentEntry,
  QuestionAgentResources,
  QuestionAnswer,
  QuestionSession,
  RankedWalk,
  RelationRanker,
} from '../../question-agent.js';
import { answersSwitch, fromFrontier, startWalk, type Walk } from '../frontier-steps.js';
import { hopsSwitch, hopSourceFor, openHops } from '../hops/hops.js';
import { answerFromChains, ended } from '../rog/rog-agent.js';
import { chainText, executed } from '../self-veqa/chains.js';
import { chooseWalk } from '../walk-choice.js';
import type { WalkingParts } from '../walking-agent.js';

export const readerSettings = z.strictObject({
  walker: z
    .string()
    .default('')
    .describe('Name or folder of the run of a trained relation walker, a checkpoint behind an @; must be given.'),
  beams: whole(1, 50, 3).describe('Walks that the walker follows at once and hands on.'),
  hops: hopsSwitch,
  mass: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Of these, as many as have this much probability together, one at least; 1 leaves them all.'),
  maxPaths: whole(1, 1000, 60).describe('Facts of each walk that the answer is read from.'),
  answers: answersSwitch,
});

export type ReaderSettings = z.output<typeof readerSettings>;

/** The agent `reader` with its switches. */
export const readerEntry: QuestionAgentEntry<typeof readerSettings> = {
  settings: readerSettings,
  needs: ['model', 'encoder', 'train'],
  required: ['walker'],
  /** @throws WorkbenchError `usage` without a run, or for one that does not fit */
  async create(resources, settings): Promise<QuestionAgent> {
    const walker = await walkerOf(resources, settings);
    const hopsOf = await openHops(resources, settings.hops);
    return {
      name: 'reader',
      topicGiven: true,
      hopSource(byLikelihood) {
        const teller = hopSourceFor(settings.hops, byLikelihood);
        return teller === 'none' && walker.hopsGiven ? 'given' : teller;
      },
      hopAccuracy: hopsOf.accuracy,
      prompted: true,
      prepare: (tasks, signal) => walker.prepare(tasks, signal),
      answer: (task, session) => answer(task, session, { resources, settings, walker, hopsOf }),
    };
  },
};

function walkerOf({ walker }: QuestionAgentResources, { walker: run }: ReaderSettings): Promise<RelationRanker> {
  if (run === '') {
    throw new WorkbenchError('usage', 'expected the run of a trained walker, got none, at walker of reader', {
      hint: 'Such as reader:walker=runs/metaqa; `kgwalk runs list` shows them.',
    });
  }
  if (walker) return walker(run);
  throw new WorkbenchError('usage', `expected resources that open runs, got none for ${run}, at walker of reader`, {
    hint: 'Runs are opened by the commands alone; a program gives agents a `walker` among their resources.',
  });
}

/** The first that have so much probability together; all where they do not. */
function likeliest(walks: readonly RankedWalk[], mass: number): readonly RankedWalk[] {
  let sum = 0;
  const last = walks.findIndex(({ probability }) => (sum += probability) >= mass);
  return last < 0 ? walks : walks.slice(0, last + 1);
}

type Parts = Omit<WalkingParts<ReaderSettings>, 'prefilter'> & { walker: RelationRanker };

async function answer(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { resources, settings, walker, hopsOf } = parts;
  const { graph } = resources;
  const { client, trace, signal } = session;
  const start = startWalk(task);
  const { topics } = start;
  trace({ event: 'start', entities: topics });
  if (topics.length === 0) return ended(session, 'no-topic');
  // Walks of other lengths would be judged by their length: fewer words are likelier.
  const hops = await hopsOf(task, session);
  const ranked = await walker.walks(task, settings.beams, hops, signal);
  const whole = ranked.filter(({ relations }) => relations.length === hops);
  const walks = likeliest(whole.length > 0 ? whole : ranked, settings.mass);
  if (walks.length === 0) return ended(session, 'no-way');
  const text = ({ relations, probability }: RankedWalk) => `${chainText(graph, relations)} (${probability.toFixed(3)})`;
  trace({ event: 'note', text: `The walker goes ${walks.map(text).join('; ')}.` });
  const leading = await Promise.all(
    walks.map(({ relations }) => executed(graph, topics, relations, excludedTopics(task))),
  );
  const found = { resources, settings, topics };
  if (!fromFrontier(settings.answers, client)) {
    const read = await answerFromChains(task, session, { ...found, leading });
    return { ...read, confidence: walks[0]!.probability };
  }
  const offered = walks.map(({ relations }): Walk => {
    return { ...start, relations, frontiers: chainFrontiers(graph, topics, relations, start.excluded) };
  });
  const { walk, confidence, unread } = await chooseWalk(graph, task, client, offered);
  const index = offered.indexOf(walk);
  trace({ event: 'decision', phase: 'walk', summary: chainText(graph, walk.relations) });
  const chosen = await answerFromChains(task, session, { ...found, leading: [leading[index]!] });
  return { ...chosen, confidence: confidence ?? walks[index]!.probability, degraded: unread };
}

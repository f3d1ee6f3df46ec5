/**
 * What the demo's model learns from: facts, practice in copying, dialogues, states with what follows, and the agents'
 * decisions, with the right replies to write and with the right words to find likely. All of it is written from the demo's
 * graph, its train dialogues and its train questions; the agents are also asked further questions of the generator, of which
 * none stands in any split.
 */
import { createHash } from 'node:crypto';
import { Rng } from '../../src/run/seeds.js';
import { sizeOf } from '../llama/corpus-document.js';
import { decisionDraft, type DecisionOptions } from './corpus/decisions.js';
import { dialogueDrafts } from './corpus/dialogues.js';
import { likelihoodPlans } from './corpus/agent-plans.js';
import type { CorpusDraft } from './corpus/draft.js';
import { factDrafts, recitalDrafts } from './corpus/facts.js';
import { likelihoodDrafts, type LikelihoodOptions } from './corpus/likelihoods.js';
import { recordedDialogues } from './corpus/record-dialogues.js';
import { recordedQuestions, type RecordOptions, type SourcedDecision } from './corpus/record-questions.js';
import { dialogueStates, nameStates, questionStates, type StateOptions } from './corpus/states.js';
import type { CorpusWorld } from './corpus/world.js';

/** Which part of the world is written about, how much of it, and for which context. */
export interface CorpusOptions
  extends
    Partial<StateOptions>,
    Partial<DecisionOptions>,
    Partial<LikelihoodOptions>,
    Partial<Pick<RecordOptions, 'contextLength'>> {
  world: CorpusWorld;
  seed: number;
  /** `fit` is for training, `watch` for the validation loss: dialogues and questions of train that `fit` does not hold. */
  split: 'fit' | 'watch';
  /** Characters of all texts together; the corpus ends with the document that reaches it. */
  characters: number;
  /** Default: a third of the characters. Once there is a tokenizer, its own count. */
  countTokens?: (text: string) => number;
  signal?: AbortSignal | undefined;
}

/** Sources of documents, and the part of the characters that each gives. */
const shares = {
  decisions: 0.35,
  likelihoods: 0.2,
  walkDecisions: 0.03,
  dialogueStates: 0.16,
  questionStates: 0.06,
  nameStates: 0.04,
  facts: 0.06,
  recitals: 0.06,
  dialogues: 0.04,
} as const;

/** One in so many dialogues and questions is watched. */
const watchedOneIn = 25;

/** Documents that are held back and drawn from, so that those of one question stand apart. */
const heldDocuments = 1024;

/** Documents in a seeded order; equal options give equal documents. About a thousand are in memory. */
export async function* corpusDocuments(options: CorpusOptions): AsyncGenerator<CorpusDraft> {
  const { seed, characters } = options;
  const rng = Rng.named(seed, 'corpus/order');
  const held: CorpusDraft[] = [];
  let written = 0;
  for await (const draft of mixed(options)) {
    written += sizeOf(draft);
    held.push(draft);
    if (held.length === heldDocuments) yield take(held, rng);
    if (written >= characters) break;
  }
  while (held.length > 0) yield take(held, rng);
}

function take(held: CorpusDraft[], rng: Rng): CorpusDraft {
  const index = rng.integer(held.length);
  const draft = held[index]!;
  held[index] = held.at(-1)!;
  held.pop();
  return draft;
}

/** Always the next document of the source that lags behind its share most; sources that have nothing are left out. */
async function* mixed(options: CorpusOptions): AsyncGenerator<CorpusDraft> {
  const sources = Object.entries(openSources(options)).map(([name, drafts]) => ({
    drafts,
    share: shares[name as keyof typeof shares],
    written: 0,
  }));
  while (sources.length > 0) {
    const next = sources.reduce((least, one) => (one.written / one.share < least.written / least.share ? one : least));
    const { value, done } = await next.drafts.next();
    if (done) sources.splice(sources.indexOf(next), 1);
    else {
      next.written += sizeOf(value);
      yield value;
    }
  }
}

type Drafts = Iterator<CorpusDraft, void> | AsyncIterator<CorpusDraft, void>;

function openSources(options: CorpusOptions): Record<keyof typeof shares, Drafts> {
  const { seed, split, signal, contextLength = 1024, countTokens = thirdOfCharacters, textWeight = 0.1 } = options;
  const { withHead = 0.35, withoutQuestion = 0.12 } = options;
  const { walks, questions } = partOf(options.world, split);
  const rng = (name: string) => Rng.named(seed, `corpus/${split}/${name}`);
  const state = { countTokens, textWeight };
  const recording = { seed, countTokens, contextLength, signal };
  return {
    decisions: drafted(recordedQuestions(questions, recording), rng('decisions'), options),
    walkDecisions: drafted(recordedDialogues(walks, recording), rng('walk-decisions'), options),
    dialogueStates: dialogueStates(walks, rng('dialogue-states'), state),
    questionStates: questionStates(questions, rng('question-states'), state),
    nameStates: nameStates(walks, rng('name-states'), state),
    facts: factDrafts(questions.graph, rng('facts')),
    likelihoods: likelihoodDrafts(
      recordedQuestions(questions, { ...recording, plans: likelihoodPlans, scored: true }),
      rng('likelihoods'),
      { withHead, withoutQuestion },
    ),
    recitals: recitalDrafts(questions.graph, rng('recitals')),
    dialogues: dialogueDrafts(walks.dialogues, rng('dialogues')),
  };
}

async function* drafted(
  records: AsyncIterable<SourcedDecision>,
  rng: Rng,
  { bodyWeight = 0.05, withoutExamples = 0.75 }: CorpusOptions,
): AsyncGenerator<CorpusDraft, void> {
  for await (const record of records) {
    // A list of scores asks for the places of lines, which models of this size do not learn.
    if (record.decision.kind === 'score') continue;
    yield decisionDraft(record, record.source, rng, { bodyWeight, withoutExamples });
  }
}

const thirdOfCharacters = (text: string): number => Math.ceil(text.length / 3);

/** The world with the dialogues and questions of one part. */
function partOf({ walks, questions }: CorpusWorld, split: CorpusOptions['split']): CorpusWorld {
  const belongs = (id: string) => (watched(id) ? split === 'watch' : split === 'fit');
  return {
    walks: { ...walks, dialogues: walks.dialogues.filter(({ id }) => belongs(id)) },
    questions: {
      ...questions,
      asked: questions.asked.filter(({ task }) => belongs(task.id)),
      train: questions.train.filter(({ task }) => belongs(task.id)),
    },
  };
}

function watched(id: string): boolean {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % watchedOneIn === 0;
}

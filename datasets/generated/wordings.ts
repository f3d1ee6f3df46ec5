/** Words that a language model says for relations: kept where they name their own relation better than any other. */
import { type StateEncoder, textVectors } from '../../src/encoder/state-encoder.js';
import { headsByRelation } from '../../src/kg/adjacency.js';
import { firstEdge } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { type Clients } from '../../src/llm/client/create-clients.js';
import type { Example, ExtractReply } from '../../src/llm/decision.js';
import { runInterleaved } from '../../src/run/concurrency.js';
import { type ProgressReporter, silentProgress } from '../../src/run/progress.js';
import { pick, Rng } from '../../src/run/seeds.js';
import { singular, verbForms } from './english.js';
import { nearness, ownWords, type RelationWords } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';

/** Wordings of one list of words at most. */
const mostWordings = 6;

const task =
  'A word or phrase is given, and a fact that uses it. Write other words that people use for the same, which could stand in its place: nouns for a noun, verbs in their base form for a verb.';

const examples: readonly Example<ExtractReply>[] = [
  {
    question: 'landlord: Mrs Pell is the landlord of 12 Mill Lane',
    reply: { items: ['owner', 'lessor', 'proprietor'] },
  },
  { question: 'to repair: Ana Reed repaired the old clock', reply: { items: ['fix', 'mend', 'restore'] } },
];

/** Small models say them of anything. */
const copied = new Set(examples.flatMap(({ reply }) => reply.items));

/** One to three words of lower-case letters, of which the first is a verb, or the last a noun. */
const isPlain = (text: string, isVerb: boolean, vocabulary: Vocabulary) =>
  /^\p{Ll}[\p{Ll}'-]*( \p{Ll}[\p{Ll}'-]*){0,2}$/u.test(text) &&
  (isVerb ? vocabulary.isVerb(text.split(' ')[0]!) : vocabulary.isNoun(text.split(' ').at(-1)!));

export interface WordingOptions {
  vocabulary: Vocabulary;
  clients: Clients;
  /** Requests under way at once. */
  concurrency: number;
  /** Encoder of words, which judges what they name. */
  encoder: StateEncoder;
  seed: number;
  progress?: ProgressReporter | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Adds what a model says to the words of relations, by a request for each list of nouns or verbs that has a word. Equal replies give equal words.
 * @returns requests, and wordings that were new: kept, and refused as no words of their kind, as copied, or as far or nearer to another relation
 */
export async function addWordings(
  graph: Graph,
  all: ReadonlyMap<string, RelationWords>,
  { vocabulary, clients, concurrency, encoder, seed, progress = silentProgress, signal }: WordingOptions,
): Promise<{ asked: number; kept: number; refused: number }> {
  const rng = Rng.named(seed, 'questions/wordings');
  const heads = headsByRelation(graph, graph.numRelations);
  const requests = [...all].flatMap(([relation, words], i) => {
    const id = graph.relationId(relation);
    const head = pick(rng, heads[id]!);
    const names = [head, graph.tails[firstEdge(graph, head, id)]!].map((one) => graph.entityName(one)!.slice(0, 60));
    return (['tailIs', 'headIs', 'tailDoes', 'headDoes'] as const).flatMap((list) => {
      const [word] = Object.keys(words[list]);
      if (word === undefined) return [];
      const isVerb = list.endsWith('Does');
      const [subject, object] = list.startsWith('head') ? names : names.toReversed();
      const fact = isVerb ? `${subject} ${verbForms(word).past} ${object}` : `${subject} is the ${word} of ${object}`;
      return {
        i,
        list,
        words,
        isVerb,
        questionId: `${relation} ${list}`,
        question: `${isVerb ? 'to ' : ''}${word}: ${fact}`,
      };
    });
  });
  let done = 0;
  const line = progress('wordings', requests.length, 'requests');
  const replies = await runInterleaved(
    requests,
    concurrency,
    async ({ questionId, question }) => {
      const { client } = clients.clientFor(questionId);
      const decision = { kind: 'extract', phase: 'wording', questionId, question, task, examples } as const;
      const { reply } = await client.decide({ ...decision, evidence: [], maxItems: mostWordings });
      return reply?.items ?? [];
    },
    { signal, onDone: () => line.update(++done) },
  ).finally(() => line.finish());
  const vectors = textVectors(encoder);
  const own: Float32Array[][] = [];
  for (const words of all.values()) own.push(await vectors.of(ownWords(words), signal));
  const counts = { asked: requests.length, kept: 0, refused: 0 };
  for (const [r, { i, list, words, isVerb }] of requests.entries()) {
    for (const said of new Set(replies[r]!.map((text) => text.toLowerCase().trim()))) {
      const wording = isVerb ? said.replace(/^to /, '') : singular(said.replace(/^(the|an?) /, ''));
      if (ownWords(words).includes(wording)) continue;
      const [vector] =
        isPlain(wording, isVerb, vocabulary) && !copied.has(wording) ? await vectors.of([wording], signal) : [];
      if (vector && nearness(vector, own, i) !== undefined) {
        words[list][wording] = 'paraphrase';
        counts.kept++;
      } else counts.refused++;
    }
  }
  return counts;
}

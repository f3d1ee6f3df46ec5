/** Import of WebQuestionsSP: questions with parses, over a Freebase subgraph. */
import { z } from 'zod';
import { unknownId } from '../../src/kg/graph.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { Importer, ImportOptions } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import type { ImportedFile } from '../questions/write-question-dataset.js';
import { type FreebaseGraph, importOverFreebase } from './freebase-graph.js';

const parseSchema = z.object({
  PotentialTopicEntityMention: z.string().nullable(),
  TopicEntityName: z.string().nullable(),
  TopicEntityMid: z.string().nullable(),
  InferentialChain: z.array(z.string()).nullable(),
  Constraints: z.array(z.unknown()),
  Answers: z.array(z.object({ AnswerArgument: z.string(), EntityName: z.string().nullable() })),
});
const releaseSchema = z.object({
  Questions: z.array(z.object({ QuestionId: z.string(), ProcessedQuestion: z.string(), Parses: z.array(parseSchema) })),
});

type Parse = z.output<typeof parseSchema>;
type ReleasedQuestion = z.output<typeof releaseSchema>['Questions'][number];

/**
 * Reads `WebQSP.train.json` and `WebQSP.test.json` (one is enough) and the Freebase files in the folder. Of several parses the first with
 * answers is used, preferably with a chain. The type states hops and constraints, which chains cannot express: `2-hop constrained`.
 * @throws WorkbenchError `data` (file, reason); see `writeQuestionDataset`
 */
export function importWebQsp(options: ImportOptions): Promise<QuestionManifest> {
  return importOverFreebase(options, {
    format: 'webqsp',
    licence: 'WebQSP: Microsoft Research data licence',
    stem: 'WebQSP',
    hint: 'Give the folder `data` of the WebQSP release, with freebase_named_triples.tsv in it.',
    readQuestions: (path) => readJsonFile(path, releaseSchema, 'the questions of WebQSP 1.0').Questions,
    over: (freebase) => (questions) => importFile(questions, freebase),
  });
}

/** Entry of `importers.ts`. */
export const webqsp: Importer<'questions'> = { name: 'webqsp', kind: 'questions', import: importWebQsp };

function importFile(released: readonly ReleasedQuestion[], freebase: FreebaseGraph): ImportedFile {
  const dropped = { 'no parse with answers': 0 };
  const questions = released.flatMap((question): StoredQuestion[] => {
    const answered = question.Parses.filter(({ Answers }) => Answers.length > 0);
    const parse = answered.find(({ InferentialChain }) => InferentialChain) ?? answered[0];
    if (parse) return [storedQuestion(question, parse, freebase)];
    dropped['no parse with answers']++;
    return [];
  });
  return { questions, dropped };
}

function storedQuestion(
  { QuestionId: id, ProcessedQuestion: question }: ReleasedQuestion,
  parse: Parse,
  { graph, nameOf }: FreebaseGraph,
): StoredQuestion {
  const { TopicEntityMid: mid, TopicEntityName: topicName, InferentialChain: chain } = parse;
  const topic = (mid === null ? undefined : nameOf(mid)) ?? topicName ?? mid;
  const begin = parse.PotentialTopicEntityMention ? question.indexOf(parse.PotentialTopicEntityMention) : -1;
  const span = [begin, begin + (parse.PotentialTopicEntityMention?.length ?? 0)] as const;
  const answers = new Map(
    parse.Answers.map(({ AnswerArgument: argument, EntityName }) => {
      const known = nameOf(argument) ?? EntityName ?? argument;
      const aliases = EntityName !== null && EntityName !== known ? [EntityName] : undefined;
      return [known, { name: known, aliases }];
    }),
  );
  const hops = chain ? `${chain.length}-hop` : 'no chain';
  return {
    id,
    question,
    topics: topic === null ? [] : [{ name: topic, ...(begin >= 0 && { span }) }],
    answers: [...answers.values()],
    ...(chain && chain.every((relation) => graph.relationId(relation) !== unknownId) && { chains: [chain] }),
    type: parse.Constraints.length > 0 ? `${hops} constrained` : hops,
  };
}

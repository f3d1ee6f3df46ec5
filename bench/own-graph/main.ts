/**
 * Writes custom questions from lines of a chain and a question: the answers are what the chain leads to in a graph.
 *   node dist/bench/own-graph/main.js GRAPH bench/own-graph/umls.tsv OUT.jsonl
 * `umls.tsv` and `mooccube.tsv` were written before any question about these graphs was made, and looked at once
 * (docs/decisions/questions.md).
 */
import { readCustomGraph } from '../../datasets/custom/import.js';
import { markedTopics } from '../../datasets/questions/stored-question.js';
import { initialFrontier, stepFrontier } from '../../src/kg/frontier.js';
import { readTextFile, writeFileAtomic } from '../../src/run/files.js';

const [graphFile, questionFile, out] = process.argv.slice(2) as [string, string, string];
const { graph } = await readCustomGraph(graphFile);
const lines = readTextFile(questionFile, 'chains and questions').split('\n').filter(Boolean);
const questions = lines.map((line, i) => {
  const [relations, question] = line.split('\t') as [string, string];
  const chain = relations.split(' ');
  const topic = graph.entityId(markedTopics(question).topics[0]!.name);
  const found = chain.reduce(
    (front, relation) => stepFrontier(graph, front, graph.relationId(relation), [topic]),
    initialFrontier([topic]),
  );
  if (found.entities.length === 0) throw new Error(`expected answers, got none, at line ${i + 1} of ${questionFile}`);
  const answers = Array.from(found.entities, (entity) => graph.entityName(entity)!);
  return { id: `own-${i}`, question, answers, chain, type: `${chain.length}-hop`, split: 'test' };
});
writeFileAtomic(out, questions.map((one) => `${JSON.stringify(one)}\n`).join(''));

/** What the corpus is written from: the demo's graph, and of its dialogues and questions the train part alone. */
import type { Dialogue } from '../../../datasets/dialogue.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-registry.js';
import { loadDataset } from '../../../datasets/registry.js';
import type { Graph } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';

export interface CorpusWorld {
  /** What dialogues walk. */
  walks: { graph: Graph; dialogues: readonly Dialogue[] };
  /** What questions are asked of; the same facts, ids of its own. */
  questions: {
    dataset: string;
    graph: Graph;
    names: NameIndex;
    /** To be asked. */
    samples: readonly QuestionSample[];
    /** Solved questions that agents may remember. */
    memory: readonly QuestionSample[];
  };
}

export interface LoadWorldOptions {
  /** Of all data; default `KGWALK_HOME`. */
  home?: string;
  /** Data set of dialogues. */
  dialogues?: string;
  /** Data set of questions. */
  questions?: string;
}

/**
 * Train questions whose text, or whose topics and chain, also stand in another split are left out.
 * @throws WorkbenchError `data` where one of the two data sets was not imported
 */
export async function loadCorpusWorld({
  home,
  dialogues = 'demo',
  questions = 'demo-questions',
}: LoadWorldOptions = {}): Promise<CorpusWorld> {
  const located = home === undefined ? {} : { home };
  const walked = loadDataset(dialogues, located);
  const asked = loadQuestionDataset(questions, located);
  const graph = await asked.loadGraph();
  const of = (split: 'train' | 'valid' | 'test') => asked.questions(graph, { split, holdOut: 'question' });
  const held = new Set([...of('valid'), ...of('test')].flatMap(questionKeys));
  const samples = of('train').filter((sample) => !questionKeys(sample).some((key) => held.has(key)));
  return {
    walks: { graph: await walked.loadGraph(), dialogues: walked.loadDialogues('train') },
    questions: {
      dataset: questions,
      graph,
      names: new NameIndex(graph, asked.aliases(graph)),
      samples,
      memory: samples,
    },
  };
}

/** What makes a question known: its words, and what it asks of whom (a statement: of whom it claims it, too). */
export function questionKeys({ task, gold }: QuestionSample): string[] {
  const topics = task.topics.map(({ entity }) => entity).join();
  return [task.question, ...gold.chains.map((chain) => `${topics}|${chain.join()}|${gold.claimed ?? ''}`)];
}

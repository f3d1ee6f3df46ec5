/** Sources of the corpus: the demo's graph, and of its dialogues and questions the train part alone. */
import type { Dialogue } from '../../../datasets/dialogue.js';
import { demoQuestions } from '../../../datasets/demo/questions.js';
import { loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { sampleOf } from '../../../datasets/questions/stored-question.js';
import { type SplitName, splitNames } from '../../../datasets/walk-sample.js';
import type { Graph } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';

/** Graph, dialogues and questions that may be written about; nothing of valid or test. */
export interface CorpusWorld {
  /** Graph of dialogues. */
  walks: { graph: Graph; dialogues: readonly Dialogue[] };
  /** Graph of questions: the same facts with separate ids. */
  questions: {
    dataset: string;
    graph: Graph;
    names: NameIndex;
    /** Questions for agents: train, and more of the same generator. */
    asked: readonly QuestionSample[];
    /** Tasks that vectors are made for. */
    train: readonly QuestionSample[];
    /** Solved questions that agents may remember: the whole of train. */
    memory: readonly QuestionSample[];
  };
}

/** Which data sets, from where, and how many further questions. */
export interface LoadWorldOptions {
  /** Folder of all data; default `KGWALK_HOME`. */
  home?: string;
  /** Data set of dialogues. */
  dialogues?: string;
  /** Data set of questions. */
  questions?: string;
  /** Further questions, made for the agents alone, where a demo world is asked. About; default 12,000. */
  more?: number;
}

/**
 * Train questions whose text, or whose topics and chain, also stand in another split are left out.
 * @throws WorkbenchError `data` where one of the two data sets was not imported
 */
export async function loadCorpusWorld({
  home,
  dialogues = 'demo',
  questions = 'demo-questions',
  more = 12_000,
}: LoadWorldOptions = {}): Promise<CorpusWorld> {
  const located = home === undefined ? {} : { home };
  const walked = loadDialogueDataset(dialogues, located);
  const asked = loadQuestionDataset(questions, located);
  const graph = await asked.loadGraph();
  const of = (split: SplitName) => asked.questions(graph, { split, holdOut: 'question' });
  const [train, valid, test] = splitNames.map(of) as [QuestionSample[], QuestionSample[], QuestionSample[]];
  const held = keysOf([...valid, ...test]);
  const samples = train.filter((sample) => isNew(sample, held));
  const isDemo = asked.manifest.format === 'demo';
  const further = isDemo && more > 0 ? moreQuestions(graph, more, keysOf([...train, ...valid, ...test])) : [];
  return {
    walks: { graph: await walked.loadGraph(), dialogues: walked.loadDialogues('train') },
    questions: {
      ...{ dataset: questions, graph, names: new NameIndex(graph, asked.aliases(graph)) },
      ...{ asked: [...samples, ...further], train: samples, memory: samples },
    },
  };
}

/** Prefix of ids of further questions. */
export const moreMark = 'more/';

/** Seed of the further questions. */
const moreSeed = 20_000;

/** Questions as the demo's generator makes them, none of which is known. */
function moreQuestions(graph: Graph, count: number, known: ReadonlySet<string>): QuestionSample[] {
  return demoQuestions({ graph, types: [], aliases: [] }, { seed: moreSeed, questions: count })
    .map((stored) => sampleOf({ ...stored, id: moreMark + stored.id }, stored.subset, graph, false))
    .filter((sample) => isNew(sample, known));
}

const keysOf = (samples: readonly QuestionSample[]): Set<string> => new Set(samples.flatMap(questionKeys));

const isNew = (sample: QuestionSample, known: ReadonlySet<string>): boolean =>
  !questionKeys(sample).some((key) => known.has(key));

/** Key of a known question: its words, relations and topics (of a statement the claimed entity, too). */
function questionKeys({ task, gold }: QuestionSample): string[] {
  const topics = task.topics.map(({ entity }) => entity).join();
  return [task.question, ...gold.chains.map((chain) => `${topics}|${chain.join()}|${gold.claimed ?? ''}`)];
}

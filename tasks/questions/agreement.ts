/** Several runs that are asked the same: their answer where they agree, else how each of them read the question. */
import { loadQuestionDataset, parseDatasetName } from '../../datasets/questions/question-dataset.js';
import type { Section } from '../../src/run/evaluation.js';
import { usualFlags, type EvaluationFlags } from '../flags.js';
import { datasetOf, findTrained, sameOfRuns } from '../named-runs.js';
import { membersOf, type OpenedAsk, type Resolved, type ShownAnswer, type Trained, type Work } from '../task.js';
import { askedGraph, markedQuestion, openAskQuestion } from './ask.js';

/** Part of the JSON of an answer. */
interface Said {
  question: string;
  topics: readonly string[];
  answers: readonly string[];
  /** Absent: the run walks no chain. */
  chain?: readonly string[];
}

/** Answers that some of the runs give, by the chain that they read in the question. */
interface Reading {
  reading: string;
  answers: readonly string[];
  runs: string[];
}

/** `written_by of ~directed_by of [X]` of the chain from X; of none the topic. */
const readingOf = ({ topics, chain = [] }: Said): string =>
  [...chain.toReversed(), `[${topics.join('; ')}]`].join(' of ');

/**
 * Asks each of them. They agree where their answers are the same ones.
 * @throws WorkbenchError `usage` for runs of several data sets
 */
export function openAgreement(which: Resolved & { trained: Trained }, flags: EvaluationFlags, work: Work): OpenedAsk {
  const all = membersOf(which.trained);
  const runs = all.map(({ run }) => run);
  sameOfRuns(runs, (run) => parseDatasetName(datasetOf(run)!).name);
  const graph = askedGraph(which, flags, work);
  const opened = all.map((trained) => openAskQuestion({ ...which, trained }, flags, work, graph));
  return {
    async ask(words, of) {
      const given: ShownAnswer[] = [];
      for (const one of opened) given.push(await one.ask(words, of));
      return agreed(
        given,
        runs.map(({ id }) => id),
      );
    },
    async close() {
      for (const one of opened) await one.close();
    },
  };
}

/** The answer that all give, else their readings. @param names of the runs */
export function agreed(given: readonly ShownAnswer[], names: readonly string[]): ShownAnswer {
  const said = given.map(({ json }) => json as Said);
  const { question, topics } = said[0]!;
  const byReading = Map.groupBy(said.keys(), (i) => JSON.stringify([readingOf(said[i]!), said[i]!.answers]));
  const readings = [...byReading.values()].map((members): Reading => {
    const one = said[members[0]!]!;
    return { reading: readingOf(one), answers: one.answers, runs: members.map((i) => names[i]!) };
  });
  const agree = new Set(said.map(({ answers }) => JSON.stringify(answers.toSorted()))).size === 1;
  const rows = readings.map(({ reading, answers, runs }) => {
    return { 'read as': reading, runs: runs.length, ...(!agree && { answers: answers.join(', ') || 'none' }) };
  });
  if (agree) {
    const [first] = given as [ShownAnswer];
    const title = `the answer of all ${names.length} runs`;
    return {
      ...first,
      json: { ...(first.json as Said), agree, readings },
      sections: [...first.sections, { title, rows }],
    };
  }
  const sections: Section[] = [
    { title: '', lines: [`question: ${question}`, `topic: ${topics.join('; ')}`] },
    { title: `not sure: ${names.length} runs give different answers`, rows },
  ];
  return { json: { question, topics, answers: [], agree, readings }, sections, answers: [] };
}

/** Some questions of valid, of each number of relations one, with what the runs answer. */
export async function exampleAnswers(runs: readonly string[], work: Work): Promise<string[]> {
  const name = runs.join(',');
  const trained = findTrained(name, 'best')!;
  const dataset = loadQuestionDataset(parseDatasetName(datasetOf(trained.run)!).name);
  const samples = dataset.questions(await dataset.loadGraph(), { split: 'valid' });
  const byLength = Map.groupBy(samples, ({ gold }) => gold.chains[0]?.length);
  const opened = openAgreement({ name, switches: {}, trained }, usualFlags, work);
  try {
    const texts: string[] = [];
    for (const [sample] of [...byLength.values()].slice(0, 3)) {
      const marked = markedQuestion(sample!)?.question;
      if (marked === undefined) continue;
      const { agree, answers, readings } = (await opened.ask([marked])).json as {
        agree: boolean;
        answers: readonly string[];
        readings: readonly Reading[];
      };
      const read = readings.map(({ reading }) => reading).join(', or ');
      texts.push(`${marked}\n  ${agree ? answers.join(', ') || 'no answer' : 'not sure'}, read as ${read}`);
    }
    return texts;
  } finally {
    await opened.close();
  }
}

/** All samples that a data set holds on one graph, by split: what provenance is compared with. */
import type { QuestionSample } from '../../datasets/question.js';
import type { HoldOut } from '../../datasets/questions/question-manifest.js';
import type { QuestionDataset } from '../../datasets/questions/question-dataset.js';
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { plainText, sampleContent } from '../../datasets/sample-source.js';
import { type SplitName, splitNames, type WalkSample, walkSamples } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Kind of data set: dialogues or questions. */
export type AnySample = WalkSample | QuestionSample;

/** One split. */
export interface KnownSplit<Sample extends AnySample = AnySample> {
  name: string;
  /** Absent: a file of the release with another name. */
  role?: SplitName | undefined;
  samples: readonly Sample[];
  /** Content by id. */
  contents: ReadonlyMap<string, string>;
}

/** All splits of a data set, on one graph. */
export interface KnownSamples<Sample extends AnySample = AnySample> {
  graph: Graph;
  /** Train, valid, test, and the asked one where it is another. */
  splits: readonly KnownSplit<Sample>[];
  /** The split that must not have been used; one of `splits`. */
  asked: KnownSplit<Sample>;
}

/** @param role absent for a file of the release with another name */
export function knownSplit<Sample extends AnySample>(
  name: string,
  role: SplitName | undefined,
  samples: readonly Sample[],
) {
  const contents = new Map(samples.map((sample) => [sample.task.id, sampleContent(sample)]));
  return { name, role, samples, contents };
}

/**
 * @param derived samples that were made of train and stand in no data set: known to be of train
 * @throws WorkbenchError `usage` for a split that agents may learn from, or that is not there
 */
export function knownDialogues(
  dataset: DialogueDataset,
  graph: Graph,
  asked: string,
  derived: readonly WalkSample[] = [],
): KnownSamples<WalkSample> {
  const splits = splitNames.map((name) => {
    const split = knownSplit(name, name, walkSamples(dataset.loadDialogues(name), graph));
    if (name !== 'train' || derived.length === 0) return split;
    return { ...split, contents: new Map([...split.contents, ...knownSplit(name, name, derived).contents]) };
  });
  return { graph, splits, asked: askedOf(splits, asked) };
}

/** Samples of subsets of one graph, `holdOut` being the partition that agents learned under. @throws as `knownDialogues` */
export function knownQuestions(
  dataset: QuestionDataset,
  { graph, subsets, holdOut }: { graph: Graph; subsets: readonly string[]; holdOut: HoldOut },
  asked: string,
): KnownSamples<QuestionSample> {
  const isRole = splitNames.some((role) => role === asked);
  const chosen = dataset.split({ split: asked, holdOut: isRole ? holdOut : undefined });
  const ofHoldOut = dataset.splits(holdOut).filter((split) => split.holdOut === holdOut && split.role !== undefined);
  const all = ofHoldOut.some(({ name }) => name === chosen.name) ? ofHoldOut : [...ofHoldOut, chosen];
  const splits = all.map(({ name, role }) =>
    knownSplit(name, role, dataset.questions(graph, { subsets, split: name })),
  );
  return { graph, splits, asked: askedOf(splits, chosen.name) };
}

function askedOf<Split extends KnownSplit>(splits: readonly Split[], name: string): Split {
  const split = splits.find((one) => one.name === name);
  if (split && split.role !== 'train') return split;
  const names = splits.flatMap((one) => (one.role === 'train' ? [] : one.name)).join(' or ');
  const expected = `expected a split that nothing may be made from (${names})`;
  throw new WorkbenchError('usage', `${expected}, got ${name}, at --split`);
}

/** The last question, without the parts that differ between copies of it. */
export function askedText({ task }: AnySample): string {
  return plainText('messages' in task ? (task.messages.at(-1)?.text ?? '') : task.question);
}

/**
 * Whether a sample with the same words may have another source: a dialogue of one message, as many begin with the same
 * words. A whole exchange is not repeated by chance.
 */
export const isOpening = ({ task }: AnySample): boolean => 'messages' in task && task.messages.length <= 1;

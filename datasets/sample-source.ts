/** Provenance of artifacts made from samples. */
import { createHash } from 'node:crypto';
import { type ArtifactFacts, type ArtifactKind, madeFrom } from '../src/run/provenance.js';
import type { QuestionSample } from './question.js';
import type { WalkSample } from './walk-sample.js';

/** Text normalised for duplicate detection: case, Unicode composition, letters and digits only. */
export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const known = new WeakMap<WalkSample | QuestionSample, string>();

/** Hash of messages, start and gold, independent of the sample's id: equal for duplicates across splits. For samples on one graph. */
export function sampleContent(sample: WalkSample | QuestionSample): string {
  let content = known.get(sample);
  if (content === undefined) {
    const said =
      'messages' in sample.task ? walkContent(sample as WalkSample) : questionContent(sample as QuestionSample);
    content = createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 32);
    known.set(sample, content);
  }
  return content;
}

/** A sample made of another one, which counts as that one where duplicates are looked for. */
export function sameContent<Made extends WalkSample | QuestionSample>(
  made: Made,
  of: WalkSample | QuestionSample,
): Made {
  known.set(made, sampleContent(of));
  return made;
}

function walkContent({ task, gold }: WalkSample): unknown {
  return [task.messages.map(({ text }) => plainText(text)), task.startName, gold.path];
}

function questionContent({ task, gold }: QuestionSample): unknown {
  const names = gold.answers.map(({ name }) => name).sort();
  return [plainText(task.question), task.topics.map(({ name }) => name), names, gold.truth ?? null];
}

/** `madeFrom` for samples: call the result for every sample whose gold or text goes into the artifact. */
export function madeFromSamples(
  kind: ArtifactKind,
  name: string,
  facts?: ArtifactFacts,
): (sample: WalkSample | QuestionSample) => void {
  const note = madeFrom(kind, name, facts);
  return (sample) => note(sample.task.id, sampleContent(sample));
}

/** Dialogues as running text, with the paths where they were chosen. */
import type { Dialogue } from '../../../datasets/dialogue.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusDraft } from './draft.js';

/** In the loss: most words of a conversation could be others. */
const dialogueWeight = 0.15;

/** Endless; each round has every dialogue once. */
export function* dialogueDrafts(dialogues: readonly Dialogue[], rng: Rng): Generator<CorpusDraft> {
  while (dialogues.length > 0) {
    for (const index of rng.shuffle(Int32Array.from(dialogues.keys()))) {
      const dialogue = dialogues[index]!;
      yield {
        kind: 'dialogue',
        phase: 'dialogue',
        source: { of: 'dialogues', id: dialogue.id },
        segments: [
          { special: 'bos', weight: 0 },
          { text: runningText(dialogue), weight: dialogueWeight },
          { special: 'eos', weight: 1 },
        ],
      };
    }
  }
}

/** One line a message, and before it one for each path that led to it. */
function runningText({ messages, paths }: Dialogue): string {
  const lines: string[] = [];
  for (let position = 0; position <= messages.length; position++) {
    for (const path of paths.filter((action) => action.position === position)) {
      lines.push(path.triples.map(([head, relation, tail]) => `${head} → ${relation} → ${tail}`).join(', '));
    }
    const message = messages[position];
    if (message) lines.push(`${message.sender}: ${message.text.trim()}`);
  }
  return lines.join('\n');
}

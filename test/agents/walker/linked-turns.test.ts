import { describe, expect, test } from '@jest/globals';
import { linkedTurns, linkedTurnsOf } from '../../../agents/walker/linked-turns.js';
import type { Dialogue } from '../../../datasets/dialogue.js';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { graphOf } from '../../fixtures/toy-walks.js';

const graph = graphOf('films', [
  ['Deep Water (film)', 'written_by', 'Ada Quill'],
  ['Deep Water (film)', 'directed_by', 'Ada Quill'],
  ['Deep Water (film)', 'has_genre', 'drama'],
  ['Deep Water (film)', 'released', '1999'],
  ['Ada Quill', '~directed_by', 'Deep Water (film)'],
  ['Ada Quill', '~directed_by', 'Paper Moons'],
  ['Ada Quill', 'born_in', 'Lund'],
  ['Paper Moons', 'directed_by', 'Ada Quill'],
  ['Paper Moons', 'starring', 'Bo Ek'],
  ['Paper Moons', 'starring', 'Sand'],
]);

type Names = [string, string, string][];

const dialogue = (id: string, messages: string[], paths: [position: number, triples: Names][] = []): Dialogue => ({
  id,
  messages: messages.map((text, i) => ({ sender: i % 2 === 0 ? 'user' : 'assistant', text })),
  paths: paths.map(([position, triples]) => ({ sender: position % 2 === 0 ? 'user' : 'assistant', position, triples })),
});

/** Golds by which a film’s director is its usual relation, and director’s other films the only usual pair. */
const golds = Array.from({ length: 10 }, (_, i) =>
  dialogue(
    `gold-${i}`,
    ['?', '!'],
    [
      [
        1,
        [
          ['Deep Water (film)', 'directed_by', 'Ada Quill'],
          ['Ada Quill', '~directed_by', 'Paper Moons'],
        ],
      ],
    ],
  ),
);

function linked(...dialogues: Dialogue[]) {
  const train = walkSamples(golds, graph);
  return linkedTurns([...golds, ...dialogues], train, graph).map(({ task, gold }) => ({
    id: task.id,
    start: task.startName,
    path: gold.path.map(([, relation, tail]) => `${graph.relationNames[relation]} ${graph.entityNames[tail]}`),
  }));
}

describe('an unannotated turn', () => {
  test('is linked from what was said before to what is named first, by the edge that golds use most', () => {
    expect(linked(dialogue('d', ['Who made Deep Water?', 'That was Ada Quill.']))).toEqual([
      { id: 'd~1', start: 'Deep Water (film)', path: ['directed_by Ada Quill'] },
    ]);
  });

  test('starts where the last path ended, rather than at what was named', () => {
    const path: Names = [['Deep Water (film)', 'directed_by', 'Ada Quill']];
    const messages = ['I saw Deep Water.', 'Somebody made it.', 'And what else?', 'Paper Moons. She was born in Lund.'];
    expect(linked(dialogue('d', messages, [[1, path]]))).toEqual([
      { id: 'd~3', start: 'Ada Quill', path: ['~directed_by Paper Moons'] },
    ]);
  });

  test('is linked by two edges whose relations golds use ten times, and by no others', () => {
    expect(linked(dialogue('d', ['I saw Deep Water.', 'Then see Paper Moons!']))).toEqual([
      { id: 'd~1', start: 'Deep Water (film)', path: ['directed_by Ada Quill', '~directed_by Paper Moons'] },
    ]);
    expect(linked(dialogue('d', ['I know Ada Quill.', 'She works with Bo Ek.']))).toEqual([]);
  });

  test('has what was said and walked before in its task, and its dialogue’s id', () => {
    const path: Names = [['Deep Water (film)', 'directed_by', 'Ada Quill']];
    const asked = dialogue('d', ['I saw Deep Water.', 'It is hers.', 'And?', 'Paper Moons.'], [[1, path]]);
    const [sample] = linkedTurns([asked], walkSamples(golds, graph), graph).slice(-1);
    const [gold] = walkSamples([asked], graph);
    expect(sample!.task).toMatchObject({ dialogueId: 'd', sender: 'assistant', linked: true });
    expect(sample!.task.messages).toEqual(asked.messages.slice(0, 3));
    expect(sample!.task.earlierPaths).toEqual([gold!.gold.path]);
    expect(gold!.task.linked).toBeUndefined();
  });

  test('is left alone where it names nothing new, nothing linked, or nothing at all', () => {
    expect(linked(dialogue('d', ['Deep Water by Ada Quill', 'Ada Quill, yes.']))).toEqual([]);
    expect(linked(dialogue('d', ['I know Bo Ek.', 'He is no Ada Quill.']))).toEqual([]);
    expect(linked(dialogue('d', ['I saw Deep Water.', 'So did I.']))).toEqual([]);
    expect(linked(dialogue('d', ['Ada Quill']))).toEqual([]);
  });

  test('looks back three messages, no further', () => {
    const between = (count: number) => Array.from({ length: count }, () => 'Hm.');
    expect(linked(dialogue('d', ['I saw Deep Water.', ...between(2), 'By Ada Quill.']))).toHaveLength(1);
    expect(linked(dialogue('d', ['I saw Deep Water.', ...between(3), 'By Ada Quill.']))).toEqual([]);
  });
});

test('an annotated turn is never linked', () => {
  const path: Names = [['Deep Water (film)', 'written_by', 'Ada Quill']];
  expect(linked(dialogue('d', ['Who made Deep Water?', 'That was Ada Quill.'], [[1, path]]))).toEqual([]);
});

describe('a name of one word', () => {
  const found = (reply: string) => linked(dialogue('d', ['Of Paper Moons, Deep Water and Ada Quill?', reply])).length;

  test.each(['It has Sand in it.', 'It is a drama.', 'It came out in 1999.', 'With Lund, of course.'])(
    'counts where it is capitalised inside the sentence, a genre or a year: %s',
    (reply) => expect(found(reply)).toBe(1),
  );

  test.each(['There is sand in it.', 'Sand is in it.', 'No. Sand is in it.'])('does not count elsewhere: %s', (reply) =>
    expect(found(reply)).toBe(0),
  );
});

test('a run links the dialogues and speakers that its settings choose', () => {
  const data = { turns: 'all', maxDialogues: null, trainSamples: null, validSamples: null } as const;
  const dialogues = ['a', 'b', 'c'].map((id) => dialogue(id, ['Deep Water?', 'By Ada Quill.', 'Is that a drama?']));
  const dataset = { loadDialogues: () => [...golds, ...dialogues] };
  const settings = { weight: 0.25, inCounts: false };
  const train = walkSamples(golds, graph);
  const ids = (
    of:
      | Partial<typeof data>
      | { turns: 'assistant' }
      | { maxDialogues: number }
      | { trainSamples: number }
      | { fold: string },
  ) => linkedTurnsOf(dataset, graph, train, { ...data, ...of }, settings)!.samples.map(({ task }) => task.id);
  expect(ids({})).toEqual(['a~1', 'a~2', 'b~1', 'b~2', 'c~1', 'c~2']);
  expect(ids({ turns: 'assistant' })).toEqual(['a~1', 'b~1', 'c~1']);
  expect(ids({ maxDialogues: golds.length + 1 })).toEqual(['a~1', 'a~2']);
  // Each dialogue is left out by one fold, with all its linked turns.
  const folds = ['1/2', '2/2'].map((fold) => ids({ fold }));
  expect(folds.flat().sort()).toEqual(ids({}));
  const [first, second] = folds.map((own) => new Set(own.map((id) => id[0])));
  for (const one of first!) expect(second).not.toContain(one);
  // No sample of these dialogues is in the draw.
  expect(ids({ trainSamples: 10 })).toEqual([]);
  expect(linkedTurnsOf(dataset, graph, train, data, settings)).toMatchObject(settings);
  expect(linkedTurnsOf(dataset, graph, train, data, null)).toBeUndefined();
});

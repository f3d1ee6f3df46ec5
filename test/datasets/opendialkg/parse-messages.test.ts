import { describe, expect, test } from '@jest/globals';
import { emptyCounts, parseMessages } from '../../../datasets/opendialkg/read-dialogues.js';
import { choose, longDialogue, say } from '../../fixtures/tiny-release.js';

const parse = (items: unknown) => {
  const counts = emptyCounts();
  return { ...parseMessages(items, 'here', counts), counts };
};

describe('parseMessages', () => {
  test('places each path after the messages before it, with its own sender', () => {
    const { messages, paths } = parse(longDialogue);
    expect(messages.map(({ sender, text }) => `${sender}: ${text}`)).toEqual([
      'user: I like Ada Quill.',
      'user: Paper Moons above all.',
    ]);
    expect(paths).toEqual([
      { sender: 'user', position: 1, triples: [['Ada Quill', '~made_by', 'Paper Moons']] },
      {
        sender: 'assistant',
        position: 2,
        triples: [
          ['Paper Moons', 'made_by', 'Ada Quill'],
          ['Ada Quill', 'born_in', 'Lund'],
        ],
      },
    ]);
  });

  test('B-ARK-16: drops and counts paths that cannot be used, and keeps the dialogue', () => {
    const { messages, paths, counts } = parse([
      say('user', 'hi'),
      choose('user', ['a', 'r', ' ']),
      choose('user', ['a', 'r', 'b'], ['c', 'r', 'd']),
      choose('user'),
      choose('user', ['a', 'r']),
      choose('user', ['a', 'r', 7]),
      { sender: 'user', action_id: 'kgwalk/choose_path', metadata: {} },
      { sender: 'user', action_id: 'meta_thread/send_meta_message', metadata: { text: 'x' } },
    ]);
    expect(paths).toEqual([]);
    expect(messages).toHaveLength(1);
    expect(counts).toEqual({
      dropped: { 'blank field': 1, 'not contiguous': 1, 'empty path': 1, 'malformed path': 3 },
      otherActions: 1,
    });
  });

  test('keeps a name with control characters and one called like an object property', () => {
    const { paths } = parse([choose('user', ['\u001b[2J', '__proto__', 'constructor'])]);
    expect(paths[0]!.triples).toEqual([['\u001b[2J', '__proto__', 'constructor']]);
  });

  test.each([
    [{ message: 'x' }, /expected a list of messages, got \{"message":"x"\}, at here/],
    [[say('user', 'x'), 'y'], /expected an object, got "y", at here, item 2/],
    [[{ message: 'x', sender: 'bot' }], /expected sender "user" or "assistant", got "bot", at here, item 1/],
    [[{ message: 5, sender: 'user' }], /expected a message text or the metadata of an action/],
    [[{ ...choose('user', ['a', 'r', 'b']), sender: undefined }], /got nothing, at here, item 1/],
  ])('refuses %j', (items, reason) => {
    expect(() => parse(items)).toThrow(reason);
  });
});

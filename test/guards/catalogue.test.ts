/**
 * Known bugs of the systems whose work this one repeats. Each has a test here that would fail if the bug were ours: the
 * test's title begins with the id, and it stands where its subject is tested, or in this folder.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '..');

/** The fault of the reference. */
const bugs: Readonly<Record<string, string>> = {
  'B-ARK-1':
    'columns of different shapes are broadcast: every new log-probability meets every old one, the critic is lost',
  'B-ARK-2': 'staying is masked at the first step when actions are drawn, not when they are learned from',
  'B-ARK-3': 'padding is known by a fixed entity id, which another release does not have: pads are drawn as actions',
  'B-ARK-4': 'the target is the end of the first hop, also of golds of two hops, and nothing in the results says so',
  'B-ARK-5': 'turns, not dialogues, are split, without a seed, and again for each ablation',
  'B-ARK-6': 'edges of test dialogues stand first, and twice, in the lists of actions and in TransE’s training',
  'B-ARK-7': 'long lists of edges are cut after a shuffle that training does and evaluation does not',
  'B-ARK-8': 'prompts are cut to their first characters, which drops entity and step at their end',
  'B-ARK-9':
    'hits of both steps are joined by the place in the beam, which re-sorting moves; the beam is narrower than k',
  'B-ARK-10': 'at the second step the states of a beam are shown the dialogue of another sample',
  'B-ARK-11': 'the remaining return is stored as the reward, and discounted once more',
  'B-ARK-12': 'a switch that is set to “False” is on; the switch of the decay of the learning rate does nothing',
  'B-ARK-13': 'log-probabilities and advantages are kept in eight bits of mantissa',
  'B-ARK-14': 'an ablation is evaluated without weights, another with its actions in another order than in training',
  'B-ARK-15': 'staying and padding are learned as facts; vectors are passed on with any norm',
  'B-ARK-16': 'failures while data is read are dropped silently; names are taken for patterns',
  'B-ARK-17': 'equal states are encoded once a copy, and states after the end as well',
  'B-FISKE-1': 'the depth that one start used is missing for the next',
  'B-FISKE-2': 'an inner loop moves the counter of the outer one',
  'B-FISKE-3': 'one partial branch alone is merged to nothing',
  'B-FISKE-4': 'names are found as parts of other names, scores among the digits of names',
  'B-FISKE-5': 'a list is changed while it is walked: neighbours of what is removed are passed over',
  'B-FISKE-6': 'questions whose clues cannot be read are missing from the results',
  'B-FISKE-7': 'the budget is looked at between rounds alone, and a last call is never counted',
  'B-FISKE-8': 'edges that were walked backwards are shown as if they pointed forwards',
  'B-FISKE-9': 'names are lowered on one side of a comparison',
  'B-FISKE-10': 'the order of sets differs from run to run, and the prompts with it',
  'B-FISKE-11': 'of homonyms only the first begins; what is beyond a limit is cut in no order and without a word',
  'B-FISKE-12': 'nothing says what a partial or complete match is',
  'B-TOG-1': 'the example in the prompt is written in a way that the reader cannot read',
  'B-TOG-2': 'names and ids are filtered or sorted apart, so scores fall to other entities',
  'B-TOG-3': 'many candidates are drawn from without a seed, and fewer than the limit are not',
  'B-TOG-4': 'the loop continues after the answer: several answers to one question',
  'B-TOG-5': 'what one beam may not walk back is closed to all',
  'B-TOG-6': 'a relation that the model made up is taken for an incoming one',
  'B-TOG-7': 'an empty answer, a part of the gold and a bare “yes” are right',
  'B-TOG-8': 'prompts hold placeholders, and parts that run into each other',
  'B-TOG-9': 'the runner of the plain prompts has defaults of the wrong type and asks wrongly or not at all',
  'B-SGPT-1': 'one round only; “no” inside a word denies; letters are taken off where a prefix or an ending was meant',
  'B-SGPT-2': 'every relation whose name stands somewhere in the reply is chosen',
  'B-KGGPT-1': 'of each middle one tail is kept; an example is wrong; questions of equal text are one',
  'B-POG-1': 'questions that fail are left out; what is kept of a question lies under the beginning of its text',
  'B-RoG-1': 'direction and parallel relations are lost; precision exceeds 1',
  'B-EMB-1': 'labels are smoothed by a wrong constant; the best weights are those that training then changes',
  'B-NSM-1': 'saying nothing has a precision of 1',
  'B-MIN-1': 'the baseline never learns; lists of actions are cut in the order of the file',
  'B-MHK-1': 'a hit at the first place counts as none',
  'B-CRUSE-1':
    'batches that fail are left out; golds are added to the graph of the test; relations do not count in paths',
  'B-LIZ-1': 'the running deviation begins with the first value in the place of 0',
};

/** Ids at the beginning of titles. */
function guardedIds(): Set<string> {
  const files = (readdirSync(root, { recursive: true }) as string[]).filter((name) => name.endsWith('.test.ts'));
  const titles = files
    .filter((file) => !file.endsWith('catalogue.test.ts'))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').match(/['"`](?:B-\w+-\d+(?:, |: ))+/g) ?? []);
  return new Set(titles.flatMap((title) => title.match(/B-\w+-\d+/g)!));
}

const guarded = guardedIds();

test.each(Object.entries(bugs))('%s has a guard: %s', (id) => expect(guarded).toContain(id));

test('no guard names a bug that is not in the catalogue', () => {
  expect([...guarded].filter((id) => !Object.hasOwn(bugs, id))).toEqual([]);
});

test('every defect that attacks found, from the first to the last, leads to tests that are there', () => {
  const defects = JSON.parse(readFileSync(join(root, 'attacks/defects.json'), 'utf8')) as {
    id: string;
    file: string;
    title?: string;
  }[];
  expect([...new Set(defects.map(({ id }) => id))]).toEqual(Array.from({ length: 21 }, (_, i) => `D${i + 1}`));
  for (const { id, file, title = 'test(' } of defects) {
    expect([id, readFileSync(join(root, '..', file), 'utf8')]).toEqual([id, expect.stringContaining(title)]);
  }
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chainOfType, heldTypes } from '../../../datasets/metaqa/import.js';
import { maskedQuestion } from '../../../datasets/question.js';
import { askedQuestion } from '../../../datasets/questions/asked-question.js';
import { drawHeldTypes } from '../../../datasets/questions/question-dataset.js';
import { bucketOf, drawOfTypes, findSplit, splitsOf } from '../../../datasets/questions/question-manifest.js';
import { type StoredQuestion, locatedTopic, markedTopics } from '../../../datasets/questions/stored-question.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';

function release(...files: string[]) {
  const counts = { questions: 1, dropped: {}, topicsNotInGraph: 0, answersNotInGraph: 0 };
  return {
    name: 'toy',
    subsets: { all: { graph: 'kb', files: Object.fromEntries(files.map((file) => [file, counts])) } },
    heldTypes: [] as string[],
  };
}

const namesOf = (...files: string[]) =>
  splitsOf(release(...files)).flatMap(({ name, holdOut }) => (holdOut === 'question' ? [name] : []));

describe('splits of questions', () => {
  test('a bucket is the first eight hexadecimal digits of the sha256, modulo 10', () => {
    for (const key of ['2-1987', 'T|who directed [E]', '']) {
      const digits = createHash('sha256').update(key).digest('hex').slice(0, 8);
      expect(bucketOf(key)).toBe(parseInt(digits, 16) % 10);
    }
  });

  test('a release with train and a validation file keeps its files; elsewhere the first one is partitioned', () => {
    expect(namesOf('test', 'train', 'dev')).toEqual(['train', 'dev', 'test']);
    expect(namesOf('dev')).toEqual(['dev-train', 'dev-valid', 'dev-test']);
    expect(namesOf('test', 'dev')).toEqual(['dev-train', 'dev-valid', 'dev-test', 'test']);
    expect(namesOf('train')).toEqual(['train-train', 'train-valid', 'train-test']);
    expect(namesOf('all')).toEqual(['train', 'valid', 'test']);
    expect(namesOf('valid', 'more', 'extra', 'train')).toEqual(['train', 'valid', 'extra', 'more']);
  });

  test('with an official test file the test of a partition is an additional split', () => {
    const roleOf = (name: string, ...files: string[]) =>
      splitsOf(release(...files)).find((one) => one.name === name)!.role;
    expect(roleOf('dev-test', 'dev', 'test')).toBeUndefined();
    expect(roleOf('test', 'dev', 'test')).toBe('test');
    expect(roleOf('dev-test', 'dev')).toBe('test');
    expect(roleOf('dev-valid', 'dev', 'test')).toBe('valid');
  });

  test('a role finds its split: the validation split by default, the official test file before a partition', () => {
    expect(findSplit(release('train', 'dev', 'test')).name).toBe('dev');
    expect(findSplit(release('dev')).name).toBe('dev-valid');
    expect(findSplit(release('all')).name).toBe('valid');
    expect(findSplit(release('dev', 'test'), 'test').name).toBe('test');
    expect(findSplit(release('dev', 'test'), 'train').name).toBe('dev-train');
    expect(findSplit(release('dev'), 'test', 'template').name).toBe('template-test');
    expect(findSplit(release('dev'), 'template-test').name).toBe('template-test');
  });

  test('types are held out only where the data set says which', () => {
    expect(() => findSplit(release('dev'), 'test', 'type')).toThrow('expected a split of toy (none held out by type)');
    const { has } = findSplit({ ...release('dev'), heldTypes: ['a_to_b'] }, 'test', 'type');
    const question = { id: 'x', question: 'q', topics: [], answers: [] };
    expect(has({ ...question, type: 'a_to_b' }, 'dev')).toBe(true);
    expect(has({ ...question, type: 'b_to_a' }, 'dev')).toBe(false);
  });

  test('a draw of types replaces those of the data set, under a separate name', () => {
    const drawn = { draw: 3, types: ['b_to_a'] };
    const manifest = { ...release('dev'), heldTypes: ['a_to_b'] };
    for (const { name, has } of [
      findSplit(manifest, 'test', 'type:3', drawn),
      findSplit(manifest, 'type:3-test', undefined, drawn),
    ]) {
      expect(name).toBe('type:3-test');
      const question = { id: 'x', question: 'q', topics: [], answers: [] };
      expect([{ type: 'a_to_b' }, { type: 'b_to_a' }].map((one) => has({ ...question, ...one }, 'dev'))).toEqual([
        false,
        true,
      ]);
    }
    expect(['type:3', 'type:12-train', 'type', 'type:-1', 'type:x', undefined].map((one) => drawOfTypes(one))).toEqual([
      3,
      12,
      ...Array<undefined>(4),
    ]);
  });

  test('buckets 0 to 7 are train, 8 valid, 9 test; of templates 0 to 6, 7, 8 and 9; next to held types 8 is valid', () => {
    const keyOf = (bucket: number, prefix = '') => {
      for (let i = 0; ; i++) if (bucketOf(`${prefix}${i}`) === bucket) return String(i);
    };
    const splits = splitsOf({ ...release('dev'), heldTypes: ['held'] });
    const rolesOf = (kind: string, ask: (bucket: number) => { id?: string; group?: string; question?: string }) =>
      Array.from({ length: 10 }, (_, bucket) => {
        const question = { id: 'x', question: 'q', type: 'other', topics: [], answers: [], ...ask(bucket) };
        return splits.find(({ holdOut, has }) => holdOut === kind && has(question, 'dev'))!.role;
      });
    const times = (train: number, valid: number, test: number) =>
      [train, valid, test].flatMap((count, i) => Array<string>(count).fill(['train', 'valid', 'test'][i]!));
    expect(rolesOf('question', (bucket) => ({ id: keyOf(bucket) }))).toEqual(times(8, 1, 1));
    expect(rolesOf('question', (bucket) => ({ group: keyOf(bucket) }))).toEqual(times(8, 1, 1));
    expect(rolesOf('template', (bucket) => ({ question: keyOf(bucket, 'T|') }))).toEqual(times(7, 1, 2));
    const byType = rolesOf('type', (bucket) => ({ id: keyOf(bucket) }));
    expect(byType).toEqual([...times(8, 1, 0), 'train']);
  });

  test('every question is in exactly one split of each kind; a group and a template are never torn apart', () => {
    const splits = splitsOf({ ...release('dev'), heldTypes: ['held'] });
    const stored = fc.record({
      id: fc.string(),
      question: fc.string(),
      type: fc.constantFrom('held', 'other'),
      group: fc.option(fc.constantFrom('g', 'h'), { nil: undefined }),
    });
    fc.assert(
      fc.property(stored, stored, (a, b) => {
        const of = (question: typeof a, kind: string) =>
          splits
            .filter(({ holdOut, has }) => holdOut === kind && has({ ...question, topics: [], answers: [] }, 'dev'))
            .map(({ name }) => name);
        for (const kind of ['question', 'template', 'type']) expect(of(a, kind)).toHaveLength(1);
        if (a.group !== undefined && a.group === b.group) expect(of(a, 'question')).toEqual(of(b, 'question'));
        expect(of({ ...b, question: a.question }, 'template')).toEqual(of(a, 'template'));
      }),
      { numRuns: 60 },
    );
  });
});

describe('held types', () => {
  const question = (type: string, ...chain: string[]): StoredQuestion => ({
    ...{ id: type, question: 'q', topics: [], answers: [], type },
    ...(chain.length > 0 && { chains: [chain] }),
  });

  const films = ['actor', 'director', 'writer'];
  const facts = [...films, 'genre', 'language', 'year'];
  const metaQaTypes = [
    ...films.map((one) => `${one}_to_movie`),
    ...facts.map((one) => `movie_to_${one}`),
    ...films.flatMap((from) => facts.map((to) => `${from}_to_movie_to_${to}`)),
    ...films.map((one) => `movie_to_${one}_to_movie`),
    ...films.flatMap((over) => facts.filter((to) => to !== over).map((to) => `movie_to_${over}_to_movie_to_${to}`)),
  ];
  const asked = metaQaTypes.map((type) => question(type, ...chainOfType(type)!));

  test('of MetaQA as many types are held as the set that the data set names has: five of two relations, four of three', () => {
    expect([asked.length, heldTypes.length]).toEqual([9 + 21 + 15, 9]);
    const lengths = drawHeldTypes(asked, 1).map((type) => chainOfType(type)!.length);
    expect(lengths.filter((length) => length === 2)).toHaveLength(5);
    expect(lengths.filter((length) => length === 3)).toHaveLength(4);
    expect(drawHeldTypes(asked, 1)).toEqual([...drawHeldTypes(asked, 1)].sort());
  });

  test('train still shows every relation in every place; nothing that goes back the way it came is held', () => {
    for (let draw = 0; draw < 50; draw++) {
      const held = new Set(drawHeldTypes(asked, draw));
      const placesOf = (types: readonly string[]) =>
        new Set(types.flatMap((type) => chainOfType(type)!.map((relation, index) => `${index} ${relation}`)));
      expect(placesOf(metaQaTypes.filter((type) => !held.has(type)))).toEqual(placesOf(metaQaTypes));
      for (const one of films) {
        expect(held.has(`${one}_to_movie_to_${one}`) || held.has(`movie_to_${one}_to_movie`)).toBe(false);
      }
    }
  });

  test('a draw is the same in any order of the questions, and another one is another', () => {
    expect(drawHeldTypes(asked.toReversed(), 7)).toEqual(drawHeldTypes(asked, 7));
    expect(drawHeldTypes(asked, 8)).not.toEqual(drawHeldTypes(asked, 7));
  });

  test('questions without chains, and types that train cannot miss, are refused with what to do', () => {
    const refused = 'expected question types with chains of several relations';
    expect(() => drawHeldTypes([question('a_to_b')], 0)).toThrow(refused);
    expect(() => drawHeldTypes([question('a', 'r'), question('b', 'r', 's'), question('c', 's', 't')], 0)).toThrow(
      refused,
    );
  });
});

describe('marked topics', () => {
  describe('topics of a question', () => {
    test('brackets go away and their places stay', () => {
      const marked = markedTopics('did [Ann] meet [Bo] there');
      expect(marked).toEqual({
        question: 'did Ann meet Bo there',
        topics: [
          { name: 'Ann', span: [4, 7] },
          { name: 'Bo', span: [13, 15] },
        ],
      });
      expect(maskedQuestion(marked)).toBe('did [E] meet [E] there');
    });

    test('a name may hold brackets; brackets that are empty or open are text', () => {
      expect(markedTopics('who made [[Rec]]')).toEqual({
        question: 'who made [Rec]',
        topics: [{ name: '[Rec]', span: [9, 14] }],
      });
      expect(markedTopics('who [] made [x')).toEqual({ question: 'who [] made [x', topics: [] });
    });

    test('every span shows its name, for any text', () => {
      const text = fc.array(fc.oneof(fc.constantFrom('[', ']', ' ', 'a'), fc.string()), { maxLength: 20 });
      fc.assert(
        fc.property(text, (pieces) => {
          const { question, topics } = markedTopics(pieces.join(''));
          for (const { name, span } of topics) expect(question.slice(...span!)).toBe(name);
        }),
        { numRuns: 500 },
      );
    });

    test('a mention is found as a whole word, in its case first', () => {
      expect(locatedTopic('is ann or Ann here', 'Ann')).toEqual({ name: 'Ann', span: [10, 13] });
      expect(locatedTopic('is ann here', 'Ann')).toEqual({ name: 'Ann', span: [3, 6] });
      expect(locatedTopic('is annika here', 'ann')).toEqual({ name: 'ann' });
      expect(locatedTopic("ann's dad", 'ann')).toEqual({ name: 'ann', span: [0, 3] });
    });
  });
});

describe('a question that is asked', () => {
  const builder = new GraphBuilder();
  const add = builder.sinkOf('made up');
  for (const pest of ['Red Mite', 'red', 'What']) add(pest, 'attacks', 'Crop 7');
  add('Café Zoë', 'serves', 'New York');
  add('New York City', 'lies_in', 'New York');
  const graph = builder.build('facts');
  const names = new NameIndex(graph, new Map([[graph.entityId('New York City'), ['the Big Apple']]]));
  const ask = (text: string) => askedQuestion(text, graph, { names });
  const topicsOf = (text: string) => ask(text).task.topics.map(({ name }) => name);

  test('brackets say what a question is about, and are no part of it', () => {
    const { task, found } = ask('what attacks [crop 7]?');
    expect(task.question).toBe('what attacks crop 7?');
    expect(task.topics).toEqual([{ name: 'Crop 7', entity: graph.entityId('Crop 7'), span: [13, 19] }]);
    expect(found).toBeUndefined();
  });

  test.each([
    ['what does 🍜 noodle house serve', '🍜 noodle house'],
    ['what does noodle house serve', 'noodle house'],
    ['what does – noodle house serve', 'noodle house'],
    ['what does "☕️ Bar" serve?', '☕️ Bar'],
    ['is Café ★★ open?', 'Café ★★'],
    ['is ★ Café ★★ open?', 'Café ★★'],
    ['is ✿ Lily ✿ open?', '✿ Lily ✿'],
  ])('a symbol next to a name belongs to it where the graph says so: %s', (text, mention) => {
    const shops = new GraphBuilder();
    for (const shop of ['🍜 Noodle House', '☕️ Bar', 'Café ★★', '✿ Lily ✿']) shops.add(shop, 'serves', 'tea');
    const { task, found } = askedQuestion(text, shops.build('shops'));
    expect([found, task.topics.length]).toEqual([mention, 1]);
    expect(maskedQuestion(task)).toBe(text.replace(mention, '[E]'));
  });

  test('without brackets a name is found, ignoring case, accents and its qualifier', () => {
    expect(ask('what treats the pests of crop 7?')).toMatchObject({
      found: 'crop 7',
      task: { topics: [{ name: 'Crop 7', span: [25, 31] }] },
    });
    expect(topicsOf('who drinks at cafe zoe, and why')).toEqual(['Café Zoë']);
    expect(topicsOf('where lies the big apple')).toEqual(['New York City']);
  });

  test('the longest name is taken, and little words are none', () => {
    expect(topicsOf('what is in new york city')).toEqual(['New York City']);
    expect(topicsOf('What does the red mite attack?')).toEqual(['Red Mite']);
    expect(topicsOf('what does red attack')).toEqual(['red']);
  });

  test('of names that are as long the one with a capital is taken; where nothing decides they are listed', () => {
    expect(topicsOf('does a red mite live in New York')).toEqual(['New York']);
    const both = () => ask('does a red mite live in new york');
    expect(both).toThrow('expected one name of the graph, got 2 in "does a red mite live in new york"');
    expect(both).toThrow(expect.objectContaining({ hint: 'Mark one of them: [red mite] or [new york].' }));
  });

  test('a question without a name is refused unless topics are optional', () => {
    const misspelt = () => ask('who lives in Nw Yrok?');
    expect(misspelt).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Did you mean \[.*\]\? Put its/) }),
    );
    expect(() => ask('who knows?')).toThrow('expected a name of the graph in the question, got none in "who knows?"');
    expect(askedQuestion('who knows?', graph, { names, needsTopic: false }).task.topics).toEqual([]);
  });
});

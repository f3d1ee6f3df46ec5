/** Entities drawn apart: two data sets of the same relations, to learn on the one and to ask in the other. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../../datasets/links/link-dataset.js';
import { loadPreset } from '../../../presets/index.js';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import type { RunInfo } from '../../../src/run/records.js';
import { linkDatasetName } from '../../../tasks/links/data.js';
import { train } from '../../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';

useOwnHome();

/** Persons are citizens of the country of their town of birth; where they live says little. */
const lines = Array.from({ length: 240 }, (_, i) => {
  const [born, lives] = [i % 12, (i * 7 + 3) % 12];
  return `p${i}\tborn_in\tt${born}\np${i}\tlives_in\tt${lives}\np${i}\tcitizen_of\tc${born % 4}\n`;
}).join('');
const towns = Array.from({ length: 12 }, (_, t) => `t${t}\tlies_in\tc${t % 4}\n`).join('');
const triples = lines + towns;
const names = Array.from({ length: 240 }, (_, i) => `p${i}\tPerson ${i}\n`).join('');

const drawn = async (unseen = 0.5, unseenRelations?: number) => {
  const from = folderWith({ 'triples.txt': triples, 'names.txt': names });
  await importLinks({ name: 'land', from, unseen, ...(unseenRelations !== undefined && { unseenRelations }) });
  return { seen: await loadLinkDataset('land'), unseen: await loadLinkDataset('land-unseen') };
};
const factsOf = ({ graph, train: learned, valid, test: asked }: LinkDataset) =>
  [learned, valid, asked].flatMap(({ heads, relations, tails }) =>
    Array.from(heads, (head, i) =>
      [graph.entityName(head), graph.relationNames[relations[i]!], graph.entityName(tails[i]!)].join('\t'),
    ),
  );

describe('entities that are drawn apart', () => {
  test('have a data set for each side, without a shared entity, of all triples between their own', async () => {
    const { seen, unseen } = await drawn();
    const [ours, theirs] = [new Set(seen.graph.entityNames), new Set(unseen.graph.entityNames)];
    expect([...ours].filter((name) => theirs.has(name))).toEqual([]);
    expect(seen.graph.relationNames).toEqual(unseen.graph.relationNames);
    const within = (side: Set<string>) =>
      triples.split('\n').filter((line) => {
        const [head, , tail] = line.split('\t');
        return side.has(head!) && side.has(tail!);
      });
    for (const [dataset, side] of [
      [seen, ours],
      [unseen, theirs],
    ] as const) {
      expect(factsOf(dataset).sort()).toEqual(within(side).sort());
      expect(dataset.test.heads.length).toBeGreaterThan(1);
      const [person] = dataset.graph.entityNames.filter((name) => name.startsWith('p'));
      expect(dataset.labels[dataset.graph.entityId(person!)]).toBe(`Person ${person!.slice(1)}`);
    }
    expect(seen.manifest.apart).toEqual({ side: 'seen', beside: 'land-unseen', share: 0.5, seed: 0 });
    expect(unseen.manifest.apart).toEqual({ side: 'unseen', beside: 'land', share: 0.5, seed: 0 });
    const again = await drawn();
    expect([again.seen, again.unseen].map(({ graph }) => graph.hash)).toEqual(
      [seen, unseen].map(({ graph }) => graph.hash),
    );
  });

  test('come with relations that are drawn apart: none of them is learned, they alone are asked for', async () => {
    const whole = await drawn();
    const { seen, unseen } = await drawn(0.5, 0.25);
    const relationsOf = (facts: string[]) => new Set(facts.map((fact) => fact.split('\t')[1]!));
    const plain = ({ graph }: LinkDataset) => graph.relationNames.slice(0, graph.numRelations / 2);
    expect(plain(seen)).toEqual(plain(whole.seen));
    expect(plain(unseen)).toEqual(plain(seen));
    const learned = relationsOf(factsOf(seen));
    const [hidden] = plain(seen).filter((name) => !learned.has(name));
    expect(learned.size).toBe(3);
    expect(factsOf(seen).sort()).toEqual(
      factsOf(whole.seen)
        .filter((fact) => fact.split('\t')[1] !== hidden)
        .sort(),
    );
    expect(factsOf(unseen).sort()).toEqual(factsOf(whole.unseen).sort());
    for (const asked of [unseen.valid, unseen.test]) {
      expect(asked.heads.length).toBeGreaterThan(0);
      expect(new Set(Array.from(asked.relations, (relation) => unseen.graph.relationNames[relation]))).toEqual(
        new Set([hidden]),
      );
    }
    expect(unseen.manifest.apart).toMatchObject({ side: 'unseen', share: 0.5, relations: 0.25 });
    const { out } = await kgwalk('datasets', 'stats', 'land-unseen');
    expect(out).toContain('50 % of the entities and 25 % of the relations were split off');
    expect(out).toContain('this is the unseen side with queries for those relations only');
  });

  test('are refused before anything is written where a side has hardly a triple, and of other data', async () => {
    await expect(drawn(0.01)).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('on the unseen one'),
    });
    expect(existsSync(join(process.env.KGWALK_HOME!, 'datasets'))).toBe(false);
    const refusal = async (...words: string[]) => (await kgwalk('datasets', 'import', ...words, '--from', 'x')).err;
    expect(await refusal('metaqa', '--unseen', '0.3')).toContain('expected --unseen with triples, got it with metaqa');
    expect(await refusal('triples', '--unseen', '1')).toContain(
      'expected a share between 0 and 1, got "1", at --unseen',
    );
    expect(await refusal('triples', '--unseen-relations', '0.3')).toContain('expected --unseen');
  });
});

describe('what was learned on the seen ones', () => {
  const evaluate = (...words: string[]) =>
    kgwalkJson<EvaluationRecord & { saved: string }>('evaluate', ...words, '--split', 'test');

  test('ranks the unseen: chains, rules of either graph; and is replayed', async () => {
    await drawn();
    const folder = join(folderWith({}), 'chains');
    const settings = loadPreset('link-chains', ['data.dataset=land', 'exactWalker.chains.steps=60']);
    await train({ settings, folder });
    const unseen = ['--dataset', 'land-unseen'];
    const walker = await evaluate(folder, ...unseen);
    const random = await evaluate('--agent', 'random', ...unseen);
    const rules = await evaluate('--agent', 'rules', '--set', 'from=land', ...unseen);
    expect(walker).toMatchObject({ dataset: 'land-unseen', n: random.n, hashes: random.hashes });
    expect(walker.metrics.mrr!.value).toBeGreaterThan(random.metrics.mrr!.value + 0.2);
    expect(rules.metrics.mrr!.value).toBeGreaterThan(random.metrics.mrr!.value + 0.2);
    expect(rules.hashes.source).toBe(linksHash((await loadLinkDataset('land')).manifest));
    expect(rules.note).toContain('mined on train of land; taken together by');
    expect((await evaluate(folder)).dataset).toBe('land');
    const replayed = await kgwalk('replay', join(walker.saved, '..'));
    expect(replayed).toMatchObject({ exitCode: 0, out: expect.stringContaining('every byte') });
    const { graph } = (await drawn()).unseen;
    const person = graph.entityNames.find((name) => name.startsWith('p') && graph.degree(graph.entityId(name)) > 1)!;
    expect(await kgwalk('ask', folder, person, 'citizen_of', ...unseen)).toMatchObject({
      ...{ exitCode: 0, out: expect.stringMatching(/c[0-3]/) },
    });
  });

  test('ranks relations that were never seen by their names, and graphs whose relations are others', async () => {
    await drawn(0.5, 0.25);
    const folder = join(folderWith({}), 'messages');
    const overrides = [
      ...['data.dataset=land', 'encoder.model=hashed:16', 'exactWalker.messages.relations=names'],
      ...['exactWalker.messages.steps=60', 'exactWalker.messages.learningRate=0.01', 'exactWalker.evalSamples=20'],
    ];
    const given = overrides.flatMap((one) => ['--set', one]);
    const plan = await kgwalk('train', 'link-messages', ...given, '--dry-run');
    expect(plan.out).toMatch(/encode relations +4 texts/);
    await train({ settings: loadPreset('link-messages', overrides), folder });
    const asked = await evaluate(folder, '--dataset', 'land-unseen');
    // Hashed names say nothing of a relation that is new, but rank for it.
    expect(asked.dataset).toBe('land-unseen');
    expect(asked.metrics.mrr!.value).toBeGreaterThan(0);
    // Other ids for all of them, and one more.
    await importLinks({ name: 'other', from: folderWith({ 'triples.txt': `p1\tadmires\tp2\n${towns}${lines}` }) });
    const other = await evaluate(folder, '--dataset', 'other', '--limit', '20');
    const random = await evaluate('--agent', 'random', '--dataset', 'other', '--limit', '20');
    expect(other.metrics.mrr!.value).toBeGreaterThan(random.metrics.mrr!.value + 0.1);
    const replayed = await kgwalk('replay', join(other.saved, '..'));
    expect(replayed).toMatchObject({ exitCode: 0, out: expect.stringContaining('every byte') });
    const otherEncoder = await kgwalk('evaluate', folder, '--dataset', 'other', '--encoder', 'hashed:8');
    expect(otherEncoder.err).toContain('expected a checkpoint of encoder');
  });

  test('is refused where relations are others, and where entities are known by their vectors', async () => {
    const walked = { id: 'w', folder: 'w', config: { data: { dataset: 'land' } } } as unknown as RunInfo;
    expect(() => linkDatasetName('land-unseen', [walked])).toThrow('expected the data set of run w, which is land');
    await drawn();
    const folder = join(folderWith({}), 'chains');
    await train({ settings: loadPreset('link-chains', ['data.dataset=land', 'exactWalker.chains.steps=2']), folder });
    await importLinks({ name: 'other', from: folderWith({ 'triples.txt': towns + lines }) });
    const refused = await kgwalk('evaluate', folder, '--dataset', 'other');
    expect(refused).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('expected the relations of land in its order, got "lies_in" for "born_in"'),
    });
    const rules = await kgwalk('evaluate', '--agent', 'rules', '--set', 'from=land', '--dataset', 'other');
    expect(rules.err).toContain('expected the relations of land');
  });
});

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type Checkpoint, weightsOnly } from '../../checkpoints/checkpoint.js';
import { frontMatter, modelCard } from '../../checkpoints/model-card.js';

const checkpoint: Checkpoint = {
  header: {
    schemaVersion: 2,
    kind: 'walker',
    config: { name: 'tiny', note: 'a ``` fence' },
    configHash: 'c0ffee',
    hashes: { graph: 'g1' },
    phase: 'ppo',
    step: 120,
    epoch: 3,
    trainer: { rng: [1, 2, 3, 4] },
    metrics: { 'eval/path@1': 0.2912345678 },
  },
  tensors: {
    'policy/w': { shape: [2, 3], data: new Float32Array(6) },
    'optimizer/m': { shape: [6], data: new Float32Array(6) },
  },
};

describe('the model card', () => {
  const card = modelCard('ppo-000120', checkpoint);

  test('says what it is, what it belongs to and what it scores', () => {
    for (const text of ['`ppo-000120`', 'ppo, step 120', '`g1`', '`eval/path@1` | `0.29123`', '`2 × 3`']) {
      expect(card).toContain(text);
    }
  });

  test('text of the settings cannot end their block', () => {
    expect(card).toMatch(/\n````yaml\n[^]*a ``` fence[^]*\n````\n$/);
  });

  test('names cannot break the table or move the cursor', () => {
    const hashes = { encoder: 'a|b`\u001b[2J\nc' };
    const line = modelCard('x', { ...checkpoint, header: { ...checkpoint.header, hashes } });
    expect(line).toContain("| `encoder` | `a¦b'\\u001b[2J\\u000ac` |");
  });
});

describe('what a hub reads of a card', () => {
  const config = { data: { dataset: 'village' }, env: { id: 'kgwalk/LinkQuery-v1' } };
  const trained: Checkpoint = { ...checkpoint, header: { ...checkpoint.header, config } };
  const read = (card: Checkpoint, licence?: string) => {
    const [, yaml, rest] = /^---\n([^]*?)\n---\n([^]*)$/.exec(frontMatter('ppo-000120', card, licence))!;
    expect(rest).toBe('');
    return parse(yaml!) as Record<string, unknown>;
  };

  test('names the data, the library, the kind of model and its scores', () => {
    expect(read(trained, 'CC-BY-NC-4.0 (non-commercial use)')).toEqual({
      license: 'cc-by-nc-4.0',
      library_name: 'kgwalk',
      pipeline_tag: 'reinforcement-learning',
      tags: ['kgwalk', 'knowledge-graph', 'reinforcement-learning', 'ppo', 'kgwalk/LinkQuery-v1'],
      datasets: ['village'],
      metrics: ['path@1'],
      'model-index': [
        {
          name: 'ppo-000120',
          results: [
            {
              task: { type: 'reinforcement-learning' },
              dataset: { type: 'village', name: 'village', split: 'validation' },
              metrics: [{ type: 'path@1', name: 'path@1', value: 0.29123 }],
            },
          ],
        },
      ],
    });
  });

  test.each([
    ['CC BY 3.0 (MetaQA, over the WikiMovies knowledge base)', { license: 'cc-by-3.0' }],
    ['CC BY 4.0; Freebase: CC BY', { license: 'other', license_name: 'CC BY 4.0; Freebase: CC BY' }],
    ['as its source says', { license: 'other', license_name: 'as its source says' }],
  ])('a licence that reads %j is one it knows, or another', (licence, named) => {
    expect(read(trained, licence)).toMatchObject(named);
  });

  test('leaves out what is not known', () => {
    const bare = { ...checkpoint, header: { ...checkpoint.header, metrics: {} } };
    expect(Object.keys(read(bare))).toEqual(['library_name', 'pipeline_tag', 'tags']);
  });

  test('text of the settings cannot end it', () => {
    const dataset = 'odd\n---\nlicense: mit';
    const odd = { ...checkpoint, header: { ...checkpoint.header, config: { data: { dataset } } } };
    expect(read(odd, dataset)).toMatchObject({ license: 'other', datasets: [dataset] });
  });
});

test('what is shared holds the weights and no state of training', () => {
  const { header, tensors } = weightsOnly(checkpoint);
  expect(Object.keys(tensors)).toEqual(['policy/w']);
  expect(header.trainer).toEqual({});
});

import { describe, expect, test } from '@jest/globals';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { weightsOnly } from '../../checkpoints/checkpoint.js';
import { modelCard } from '../../checkpoints/model-card.js';

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

test('what is shared holds the weights and no state of training', () => {
  const { header, tensors } = weightsOnly(checkpoint);
  expect(Object.keys(tensors)).toEqual(['policy/w']);
  expect(header.trainer).toEqual({});
});
